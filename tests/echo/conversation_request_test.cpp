// What is answered for one request, by its line, its target and its fields.

#include <string>
#include <vector>

#include "echo/rows.hpp"

namespace rest_echo::echo {
namespace {

using namespace std::string_literals;
using enum Ending;

const std::string kBody = "Content-Length: 2\r\n\r\n{}";
const Answer kNull = echoed(R"({"colors":null})");

TEST(Conversation, Baseline) {
  check({
      {"GET", get(), {kHello}},
      {"GET, any path", request("GET /a/b?c=d HTTP/1.1"), {kHello}},
      {"POST", post(kDocument), {echoed(kDocument)}},
      {"POST, any path", "POST /a/b?c HTTP/1.1\r\nHost: h\r\n" + kBody, {kNull}},
      {"PUT", "PUT / HTTP/1.1\r\nHost: h\r\n" + kBody, {kNull}},
      {"PATCH", "PATCH / HTTP/1.1\r\nHost: h\r\n" + kBody, {kNull}},
      {"DELETE", "DELETE / HTTP/1.1\r\nHost: h\r\n" + kBody, {kNull}},
      {"GET with content", "GET / HTTP/1.1\r\nHost: h\r\n" + kBody, {kNull}},
      {"GET with length 0", get("Content-Length: 0\r\n"), {kHello}},
      {"made compact", post(" {\r\n\"colors\" : [ ]\n}\t"), {echoed(R"({"colors":[]})")}},
      {"not JSON",
       post("x"),
       {{400,
         R"({"title":"Bad Request","status":400,"detail":"The body is not a JSON document; the offset is )"
         R"(where it goes wrong.","code":"invalid_json","offset":0})"}}},
      {"not a Body",
       post(R"({"colors":[{"color":5}]})"),
       {{400,
         R"({"title":"Bad Request","status":400,"detail":"The value at the pointer has the wrong type or )"
         R"(is no 64-bit integer.","code":"type_mismatch","offset":20,"pointer":"/colors/0/color"})"}}},
      {"a pointer that is escaped",
       post(R"({"colors":[{"c\u006flor":0}]})"),
       {{400,
         R"({"title":"Bad Request","status":400,"detail":"The value at the pointer has the wrong type or )"
         R"(is no 64-bit integer.","code":"type_mismatch","offset":25,"pointer":"/colors/0/color"})"}}},
      {"empty, length 0",
       post(""),
       {{400,
         R"({"title":"Bad Request","status":400,"detail":"A JSON document is due, but the body is empty.",)"
         R"("code":"empty_body","offset":0})"}}},
      {"empty, no length", request("POST / HTTP/1.1"), {400}},
      {"empty, last chunk alone", chunked(kLastChunk), {400}},
      {"blanks alone", post(" \r\n\t"), {400}},
      {"the longest POST that looks like two", post(R"({"x":"POST / HTTP/1.1\r\n\r\n"})"), {kNull}},
      {"empty lines inside", post("{\r\n\r\n}"), {kNull}},
      {"health", request("GET /healthz HTTP/1.1"), {{200, R"({"status":"ok"})"}}},
      {"health, HEAD", request("HEAD /healthz HTTP/1.1"), {to_head(200)}},
      {"health, POST", "POST /healthz HTTP/1.1\r\nHost: h\r\n" + kBody, {kNull}},
  });
}

TEST(Conversation, LargeContent) {
  for (const std::size_t size : {4'000U, 64U * 1024, 65'000U, 300'000U, 900U * 1024}) {
    const std::string document = document_of(size);
    check({{std::to_string(size) + " octets", post(document), {echoed(document)}},
           {std::to_string(size) + " octets in one chunk",
            chunked(chunk(document) + kLastChunk),
            {echoed(document)}}});
  }
}

TEST(Conversation, RequestLine) {
  const Answer h = kHello;
  check({
      {"1.0", request("GET / HTTP/1.0"), {h}, closes},
      {"1.2", request("GET / HTTP/1.2"), {h}},
      {"1.9", request("GET / HTTP/1.9"), {h}},
      {"leading space", request(" GET / HTTP/1.1"), {400}, closes},
      {"leading tab", request("\tGET / HTTP/1.1"), {400}, closes},
      {"trailing space", request("GET / HTTP/1.1 "), {400}, closes},
      {"trailing tab", request("GET / HTTP/1.1\t"), {400}, closes},
      {"two spaces, first", request("GET  / HTTP/1.1"), {400}, closes},
      {"two spaces, second", request("GET /  HTTP/1.1"), {400}, closes},
      {"tab, first", request("GET\t/ HTTP/1.1"), {400}, closes},
      {"tab, second", request("GET /\tHTTP/1.1"), {400}, closes},
      {"VT", request("GET\v/ HTTP/1.1"), {400}, closes},
      {"no method", request("/ HTTP/1.1"), {400}, closes},
      {"no target", request("GET HTTP/1.1"), {400}, closes},
      {"no version", request("GET /"), {400}, closes},
      {"no version but a space", request("GET / "), {400}, closes},
      {"method alone", request("GET"), {400}, closes},
      {"a fourth part", request("GET / HTTP/1.1 HTTP/1.1"), {400}, closes},
      {"NUL in the method", request("G\0ET / HTTP/1.1"s), {400}, closes},
      {"parenthesis in the method", request("GE(T / HTTP/1.1"), {400}, closes},
      {"colon in the method", request("GET: / HTTP/1.1"), {400}, closes},
      {"octet above 7f in the method", request("G\xc3\x89T / HTTP/1.1"), {400}, closes},
      {"version, lower case", request("GET / http/1.1"), {400}, closes},
      {"version, two digits", request("GET / HTTP/1.10"), {400}, closes},
      {"version, leading zero", request("GET / HTTP/01.1"), {400}, closes},
      {"version, no minor", request("GET / HTTP/1"), {400}, closes},
      {"version, no dot", request("GET / HTTP/11"), {400}, closes},
      {"version, three parts", request("GET / HTTP/1.1.1"), {400}, closes},
      {"version, letters", request("GET / HTTP/x.y"), {400}, closes},
      {"version, white space inside", request("GET / HTTP/ 1.1"), {400}, closes},
      {"version, another protocol", request("GET / HTCPCP/1.0"), {400}, closes},
      {"0.9 as version", request("GET / HTTP/0.9"), {505}, closes},
      {"2.0", request("GET / HTTP/2.0"), {505}, closes},
      {"3.0", request("GET / HTTP/3.0"), {505}, closes},
      {"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {505}, closes},
      {"bare LF", "GET / HTTP/1.1\nHost: h\r\n\r\n", {400}, closes},
      {"bare LF everywhere", "GET / HTTP/1.1\nHost: h\n\n", {400}, closes},
      {"bare CR", "GET / HTTP/1.1\rHost: h\r\n\r\n", {400}, closes},
      {"CR CR LF", "GET / HTTP/1.1\r\r\nHost: h\r\n\r\n", {400}, closes},
      {"CR and another octet", "GET / HTTP/1.1\rX\nHost: h\r\n\r\n", {400}, closes},
      {"HTTP/0.9", "GET /\r\n", {400}, closes},
      {"HTTP/0.9, another request behind", "GET /\r\n" + get(), {400}, closes},
      {"TLS", "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03"s, {400}, closes},
      {"garbage", "\x00\xff\xfe\x80\r\n\r\n"s, {400}, closes},
      {"JSON alone", kDocument, {400}, closes},
      {"a response", "HTTP/1.1 200 OK\r\n\r\n", {400}, closes},
      {"a bad line, then a good request", "GET /\x01 HTTP/1.1\r\nHost: h\r\n\r\n" + get(), {400}, closes},
  });
}

TEST(Conversation, LeadingEmptyLine) {
  check({
      {"one", "\r\n" + get(), {kHello}},
      {"one between", get() + "\r\n" + get(), {kHello, kHello}},
      {"one behind content", post(kDocument) + "\r\n" + get(), {echoed(kDocument), kHello}},
      {"alone", "\r\n", {}},
      {"behind a request, alone", get() + "\r\n", {kHello}},
      {"two", "\r\n\r\n" + get(), {400}, closes},
      {"two between", get() + "\r\n\r\n" + get(), {kHello, 400}, closes},
      {"a thousand",
       [] {
         std::string lines;
         for (int i = 0; i < 1000; ++i) lines += "\r\n";
         return lines + get();
       }(),
       {400},
       closes},
      {"bare CR", "\r" + get(), {400}, closes},
      {"bare LF", "\n" + get(), {400}, closes},
  });
}

// An empty line alone is awaited like no request at all: the probe behind it must still be a first line.
TEST(Conversation, AnEmptyLineIsNoRequest) {
  Workspace workspace({}, json::Mode::typed);
  test::Exchange exchange(workspace);
  exchange.send("\r\n");
  EXPECT_EQ(exchange.conversation().awaited(), Conversation::Awaited::next_request);
  exchange.end_input();
  EXPECT_TRUE(exchange.conversation().is_over());
  EXPECT_EQ(exchange.sent(), "");
}

TEST(Conversation, Targets) {
  const auto target = [](const std::string& text) { return request("GET " + text + " HTTP/1.1"); };
  check({
      {"every pchar", target("/-._~!$&'()*+,;=:@%20azAZ09"), {kHello}},
      {"question marks in the query", target("/?a?b/c"), {kHello}},
      {"absolute", target("http://h/a?b"), {kHello}},
      {"absolute, other case", target("HtTp://h/"), {kHello}},
      {"absolute, port", target("http://h:8080/"), {kHello}},
      {"absolute, no path", target("http://h"), {kHello}},
      {"absolute, query and no path", target("http://h?a"), {kHello}},
      {"absolute, IPv6", target("http://[::1]/"), {kHello}},
      {"absolute, another host", target("http://elsewhere/"), {kHello}},
      {"absolute, POST", "POST http://h/ HTTP/1.1\r\nHost: h\r\n" + kBody, {kNull}},
      {"absolute, health", target("http://h/healthz"), {{200, R"({"status":"ok"})"}}},
      {"absolute, empty host", target("http:///a"), {400}},
      {"absolute, bad port", target("http://h:x/"), {400}},
      {"absolute, space", target("http://h/a b"), {400}, closes},
      {"absolute, without Host", "GET http://h/ HTTP/1.1\r\n\r\n", {400}},
      {"absolute, bad Host", "GET http://h/ HTTP/1.1\r\nHost: a b\r\n\r\n", {400}},
      {"absolute, user", target("http://u:p@h/"), {400}},
      {"absolute, https", target("https://h/"), {400}},
      {"absolute, another scheme", target("ftp://h/"), {400}},
      {"asterisk, OPTIONS", request("OPTIONS * HTTP/1.1"), {204}},
      {"asterisk, GET", target("*"), {400}},
      {"asterisk, POST", "POST * HTTP/1.1\r\nHost: h\r\n" + kBody, {400}},
      {"authority, GET", target("h:80"), {400}},
      {"a path without a slash", target("a/b"), {400}},
      {"a query alone", target("?a"), {400}},
      {"fragment", target("/#a"), {400}},
      {"backslash", target("/\\"), {400}},
      {"quote", target("/\""), {400}},
      {"angle brackets", target("/<a>"), {400}},
      {"caret", target("/^"), {400}},
      {"braces", target("/{a|b}"), {400}},
      {"backtick", target("/`"), {400}},
      {"brackets", target("/[a]"), {400}},
      {"brackets in the query", target("/?a[]=b"), {400}},
      {"percent", target("/%"), {400}},
      {"percent and letters", target("/%gg"), {400}},
      {"octets above 7f", target("/\xc3\xa9"), {400}},
      {"NUL", target("/\0"s), {400}, closes},
      {"control", target("/\x01"), {400}, closes},
      {"DEL", target("/\x7f"), {400}, closes},
      {"a bad target with content, then another",
       "POST /# HTTP/1.1\r\nHost: h\r\n" + kBody + get(),
       {400, kHello}},
      {"a bad target and Connection: close",
       request("GET /# HTTP/1.1", "Connection: close\r\n") + get(),
       {400},
       closes},
  });
}

TEST(Conversation, Hosts) {
  const auto host = [](const std::string& lines, const std::string& version = "1.1") {
    return "GET / HTTP/" + version + "\r\n" + lines + "\r\n";
  };
  check({
      {"none", host(""), {400}},
      {"none, 1.0", host("", "1.0"), {kHello}, closes},
      {"none, with content", "POST / HTTP/1.1\r\n" + kBody, {400}},
      {"two equal", host("Host: h\r\nHost: h\r\n"), {400}},
      {"two, 1.0", host("Host: h\r\nHost: h\r\n", "1.0"), {400}, closes},
      {"two, any case", host("Host: h\r\nhOST: i\r\n"), {400}},
      {"empty", host("Host:\r\n"), {400}},
      {"port alone", host("Host: :80\r\n"), {400}},
      {"user", host("Host: u@h\r\n"), {400}},
      {"path", host("Host: h/a\r\n"), {400}},
      {"query", host("Host: h?a\r\n"), {400}},
      {"fragment", host("Host: h#a\r\n"), {400}},
      {"scheme", host("Host: http://h\r\n"), {400}},
      {"list", host("Host: h, i\r\n"), {400}},
      {"white space", host("Host: h i\r\n"), {400}},
      {"quotes", host("Host: \"h\"\r\n"), {400}},
      {"octets above 7f", host("Host: \xc3\xa9\r\n"), {400}},
      {"percent", host("Host: %\r\n"), {400}},
      {"port of letters", host("Host: h:http\r\n"), {400}},
      {"port with a sign", host("Host: h:+80\r\n"), {400}},
      {"two ports", host("Host: h:80:80\r\n"), {400}},
      {"unclosed bracket", host("Host: [::1\r\n"), {400}},
      {"octets behind the bracket", host("Host: [::1]a\r\n"), {400}},
      {"space before the colon", host("Host : h\r\n"), {400}, closes},
      {"any case", host("hOsT: h\r\n"), {kHello}},
      {"no white space", host("Host:h\r\n"), {kHello}},
      {"much white space", host("Host:  \t h \t \r\n"), {kHello}},
      {"port", host("Host: h:80\r\n"), {kHello}},
      {"empty port", host("Host: h:\r\n"), {kHello}},
      {"IPv4", host("Host: 127.0.0.1:3000\r\n"), {kHello}},
      {"IPv6", host("Host: [2001:db8::1]:3000\r\n"), {kHello}},
      {"trailing dot", host("Host: example.org.\r\n"), {kHello}},
      {"underscore", host("Host: a_b\r\n"), {kHello}},
      {"sub-delims", host("Host: !$&'()*+;=\r\n"), {kHello}},
      {"last", host("A: b\r\nHost: h\r\n"), {kHello}},
  });
}

TEST(Conversation, FieldSyntax) {
  std::string fields;
  for (int i = 0; i < 100; ++i) fields += "X-" + std::to_string(i) + ": v\r\n";
  check({
      {"empty value", get("A:\r\n"), {kHello}},
      {"inner tabs", get("A: b\tc\r\n"), {kHello}},
      {"octets 80 to ff", get("A: \x80\xff\r\n"), {kHello}},
      {"every tchar in the name", get("!#$%&'*+-.^_`|~0aA: b\r\n"), {kHello}},
      {"repeated list fields", get("Accept: a\r\nAccept: b\r\n"), {kHello}},
      {"a hundred fields", get(fields), {kHello}},
      {"4000 octets in one value", get("A: " + std::string(4000, 'b') + "\r\n"), {kHello}},
      {"6 KB of cookie", get("Cookie: " + std::string(6000, 'b') + "\r\n"), {kHello}},
      {"white space before the colon", get("A : b\r\n"), {400}, closes},
      {"no colon", get("A b\r\n"), {400}, closes},
      {"no name", get(": b\r\n"), {400}, closes},
      {"parenthesis in the name", get("A(: b\r\n"), {400}, closes},
      {"octet above 7f in the name", get("\xc3\xa9: b\r\n"), {400}, closes},
      {"NUL in the name", get("A\0: b\r\n"s), {400}, closes},
      {"fold", get("A: b\r\n c\r\n"), {400}, closes},
      {"fold with a tab", get("A: b\r\n\tc\r\n"), {400}, closes},
      {"white space before the first field", "GET / HTTP/1.1\r\n Host: h\r\n\r\n", {400}, closes},
      {"NUL in the value", get("A: b\0\r\n"s), {400}, closes},
      {"VT in the value", get("A: b\v\r\n"), {400}, closes},
      {"ESC in the value", get("A: \x1b\r\n"), {400}, closes},
      {"DEL in the value", get("A: \x7f\r\n"), {400}, closes},
      {"bare CR in the value", get("A: b\rc\r\n"), {400}, closes},
      {"bare LF", get("A: b\n"), {400}, closes},
      {"CR CR LF", get("A: b\r\r\n"), {400}, closes},
      {"bare LF ends the section", "GET / HTTP/1.1\r\nHost: h\r\n\n", {400}, closes},
      {"bare CR ends the section", "GET / HTTP/1.1\r\nHost: h\r\n\rX", {400}, closes},
      {"a good request behind a bad head", get("A b\r\n") + get(), {400}, closes},
  });
}

TEST(Conversation, Methods) {
  const std::string allow = "Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n";
  check({
      {"HEAD", request("HEAD / HTTP/1.1"), {to_head(200)}},
      {"HEAD, then GET", request("HEAD / HTTP/1.1") + get(), {to_head(200), kHello}},
      {"HEAD with content", "HEAD / HTTP/1.1\r\nHost: h\r\n" + kBody + get(), {to_head(200), kHello}},
      {"HEAD, refused for its target", request("HEAD /# HTTP/1.1") + get(), {to_head(400), kHello}},
      {"HEAD, refused for its Host", "HEAD / HTTP/1.1\r\n\r\n" + get(), {to_head(400), kHello}},
      {"HEAD, bad field", request("HEAD / HTTP/1.1", "A b\r\n"), {to_head(400)}, closes},
      {"HEAD, bad version", request("HEAD / HTTP/2.0"), {to_head(505)}, closes},
      {"HEAD, unknown expectation", request("HEAD / HTTP/1.1", "Expect: x\r\n"), {to_head(417)}},
      {"OPTIONS", request("OPTIONS / HTTP/1.1"), {204}},
      {"OPTIONS *", request("OPTIONS * HTTP/1.1"), {204}},
      {"OPTIONS with content", "OPTIONS / HTTP/1.1\r\nHost: h\r\n" + kBody + get(), {204, kHello}},
      {"OPTIONS, 1.0", request("OPTIONS / HTTP/1.0"), {204}, closes},
      {"DELETE without content", request("DELETE / HTTP/1.1"), {400}},
      {"TRACE", request("TRACE / HTTP/1.1"), {405}},
      {"TRACE with content", "TRACE / HTTP/1.1\r\nHost: h\r\n" + kBody + get(), {405, kHello}},
      {"CONNECT", request("CONNECT h:443 HTTP/1.1"), {405}},
      {"CONNECT, origin-form", request("CONNECT / HTTP/1.1"), {400}},
      {"unknown", request("BREW / HTTP/1.1"), {501}},
      {"lower case", request("get / HTTP/1.1"), {501}},
      {"one letter more", request("GETT / HTTP/1.1"), {501}},
      {"one letter less", request("POS / HTTP/1.1"), {501}},
      {"one letter different", request("PUB / HTTP/1.1"), {501}},
      {"40 letters", request(std::string(40, 'A') + " / HTTP/1.1"), {501}},
      {"unknown with content", "BREW / HTTP/1.1\r\nHost: h\r\n" + kBody + get(), {501, kHello}},
      {"PROPFIND", request("PROPFIND / HTTP/1.1"), {501}},
  });
  Workspace workspace({}, json::Mode::typed);
  for (const std::string line :
       {"OPTIONS / HTTP/1.1", "OPTIONS * HTTP/1.1", "TRACE / HTTP/1.1", "CONNECT h:1 HTTP/1.1"}) {
    test::Exchange exchange(workspace);
    exchange.send(request(line));
    EXPECT_NE(exchange.sent().find(allow), std::string::npos) << exchange.sent();
  }
}

TEST(Conversation, HeadHasTheFieldsOfGet) {
  Workspace workspace({}, json::Mode::typed);
  for (const std::string path : {"/", "/healthz"}) {
    for (const std::string fields : {"", "Connection: close\r\n"}) {
      test::Exchange by_get(workspace);
      by_get.send(request("GET " + path + " HTTP/1.1", fields));
      test::Exchange by_head(workspace);
      by_head.send(request("HEAD " + path + " HTTP/1.1", fields));
      const std::size_t head_size = by_get.sent().find("\r\n\r\n") + 4;
      EXPECT_EQ(by_head.sent(), by_get.sent().substr(0, head_size));
    }
  }
}

TEST(Conversation, ContentTypes) {
  const auto typed = [](const std::string& lines) { return post(kDocument, lines); };
  const Answer answer = echoed(kDocument);
  check({
      {"none", typed(""), {answer}},
      {"json", typed("Content-Type: application/json\r\n"), {answer}},
      {"any case, parameters", typed("Content-Type: APPLICATION/Json ; charset=UTF-8\r\n"), {answer}},
      {"+json", typed("Content-Type: application/vnd.a+json\r\n"), {answer}},
      {"a form", typed("Content-Type: application/x-www-form-urlencoded\r\n"), {answer}},
      {"multipart", typed("Content-Type: multipart/form-data; boundary=a\r\n"), {answer}},
      {"nonsense", typed("Content-Type: lol\r\n"), {answer}},
      {"empty", typed("Content-Type:\r\n"), {answer}},
      {"GET with a type", get("Content-Type: image/png\r\n"), {kHello}},
      {"gzip", typed("Content-Encoding: gzip\r\n"), {415}},
      {"gzip, then another", typed("Content-Encoding: gzip\r\n") + get(), {415, kHello}},
      {"gzip, chunked",
       chunked(chunk("x") + kLastChunk, "Content-Encoding: gzip\r\n") + get(),
       {415, kHello}},
      {"identity", typed("Content-Encoding: identity\r\n"), {answer}},
      {"GET without content", get("Content-Encoding: gzip\r\n"), {kHello}},
      {"GET with content", "GET / HTTP/1.1\r\nHost: h\r\nContent-Encoding: br\r\n" + kBody, {415}},
      {"Accept is not looked at", typed("Accept: text/html\r\nAccept-Encoding: gzip\r\n"), {answer}},
  });
  Workspace workspace({}, json::Mode::typed);
  test::Exchange exchange(workspace);
  exchange.send(typed("Content-Encoding: gzip\r\n"));
  EXPECT_NE(exchange.sent().find("\r\nAccept-Encoding: identity\r\n"), std::string::npos) << exchange.sent();
}

TEST(Conversation, UpgradeAndRange) {
  const std::string websocket =
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
      "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
  check({
      {"websocket", get(websocket), {kHello}},
      {"h2c",
       get("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"),
       {kHello}},
      {"unknown", get("Connection: Upgrade\r\nUpgrade: foo/2\r\n"), {kHello}},
      {"POST", post(kDocument, websocket), {echoed(kDocument)}},
      {"1.0", request("GET / HTTP/1.0", websocket), {kHello}, closes},
      {"without its option", get("Upgrade: websocket\r\n"), {kHello}},
      {"range", get("Range: bytes=0-3\r\n"), {kHello}},
      {"range that cannot be", get("Range: bytes=100-\r\nIf-Range: \"a\"\r\n"), {kHello}},
      {"conditions",
       get("If-None-Match: *\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n"),
       {kHello}},
  });
}

TEST(Conversation, GenericModeEchoesAnyDocument) {
  RowChecker checker({}, json::Mode::generic);
  const std::string document = R"({"a":[1e400,"\u0000",null],"a":true})";
  checker.check({
      {"object", post(document), {echoed(document)}},
      {"scalar", post(" -0 "), {echoed("-0")}},
      {"chunked", chunked(chunk("[1 ,") + chunk(" 2]") + kLastChunk) + get(), {echoed("[1,2]"), kHello}},
      {"a fault", post("[1,]") + get(), {400, kHello}},
      {"empty", post(""), {400}},
      {"GET without content", get(), {kHello}},
  });
}

}  // namespace
}  // namespace rest_echo::echo
