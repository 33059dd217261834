#include "rest_echo/http/request_parser.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "support/request_text.hpp"

namespace rest_echo::http {
namespace {

using namespace std::string_literals;
using test::Cutting;

/// A name, what is received, and what read_request() tells of it.
struct Row {
  std::string name;
  std::string wire;
  std::string expected;
};

const std::string kHost = "Host: h\r\n";

/// GET / with these field lines besides Host.
std::string get(const std::string& field_lines) {
  return "GET / HTTP/1.1\r\n" + kHost + field_lines + "\r\n";
}
/// POST / with these field lines besides Host, and what follows the head.
std::string post(const std::string& field_lines, const std::string& rest) {
  return "POST / HTTP/1.1\r\n" + kHost + field_lines + "\r\n" + rest;
}
std::string chunked(const std::string& rest) { return post("Transfer-Encoding: chunked\r\n", rest); }
/// A request with this line and a Host.
std::string line(const std::string& request_line) { return request_line + "\r\n" + kHost + "\r\n"; }

void check(const std::vector<Row>& rows, const Limits& limits = {}) {
  for (const Row& row : rows) {
    test::for_each_cutting(row.wire.size(), [&](const Cutting& cutting) {
      const std::string told = test::read_request(row.wire, cutting, limits);
      if (told != row.expected) {
        ADD_FAILURE() << row.name << ", " << test::describe(cutting) << "\nexpected: " << row.expected
                      << "\n    told: " << told.substr(0, 2000);
      }
    });
  }
}

TEST(RequestParser, Methods) {
  check({
      {"GET", line("GET / HTTP/1.1"), "get"},
      {"HEAD", line("HEAD / HTTP/1.1"), "head"},
      {"POST", line("POST / HTTP/1.1"), "post"},
      {"PUT", line("PUT / HTTP/1.1"), "put"},
      {"PATCH", line("PATCH / HTTP/1.1"), "patch"},
      {"DELETE", line("DELETE / HTTP/1.1"), "delete"},
      {"OPTIONS", line("OPTIONS / HTTP/1.1"), "options"},
      {"TRACE", line("TRACE / HTTP/1.1"), "trace"},
      {"CONNECT", line("CONNECT h:80 HTTP/1.1"), "connect"},
      {"lower case", line("get / HTTP/1.1"), "other"},
      {"one letter more", line("GETS / HTTP/1.1"), "other"},
      {"one letter less", line("GE / HTTP/1.1"), "other"},
      {"one letter different", line("PASTE / HTTP/1.1"), "other"},
      {"one letter different", line("POXT / HTTP/1.1"), "other"},
      {"every tchar", line("!#$%&'*+-.^_`|~09azAZ / HTTP/1.1"), "other"},
      {"no method", line(" / HTTP/1.1"), "failed: bad_method"},
      {"no line at all", "\n", "failed: bad_method"},
      {"tab behind it", line("GET\t/ HTTP/1.1"), "failed: bad_method"},
      {"alone", "GET\r\n\r\n", "failed: bad_method"},
      {"a TLS hello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"s, "failed: bad_method"},
      {"a socks greeting", "\x05\x01\x00"s, "failed: bad_method"},
      {"a field line", "Host: h\r\n\r\n", "failed: bad_method"},
  });
}

TEST(RequestParser, EveryOctetInAMethod) {
  for (int value = 0; value < 256; ++value) {
    const char octet = static_cast<char>(value);
    if (octet == ' ') continue;
    const std::string wire = line("G"s + octet + "T / HTTP/1.1");
    const std::string expected = octet == 'E' ? "get" : kTokenOctet[octet] ? "other" : "failed: bad_method";
    check({{"octet " + std::to_string(value), wire, expected}});
  }
}

TEST(RequestParser, Targets) {
  check({
      {"path", line("GET /a/b;c=d/%20 HTTP/1.1"), "get"},
      {"query", line("GET /a?b=/c?d&e HTTP/1.1"), "get"},
      {"empty query", line("GET /? HTTP/1.1"), "get"},
      {"two slashes", line("GET //h/ HTTP/1.1"), "get"},
      {"dots", line("GET /../../etc HTTP/1.1"), "get"},
      {"absolute", line("GET http://a/b HTTP/1.1"), "get"},
      {"absolute, other case", line("POST HTTP://A:80?q HTTP/1.1"), "post"},
      {"absolute, https", line("GET https://a/b HTTP/1.1"), "get bad-target"},
      {"absolute, no host", line("GET http:///b HTTP/1.1"), "get bad-target"},
      {"absolute, user", line("GET http://u@a/b HTTP/1.1"), "get bad-target"},
      {"asterisk, OPTIONS", line("OPTIONS * HTTP/1.1"), "options"},
      {"asterisk, GET", line("GET * HTTP/1.1"), "get bad-target"},
      {"authority, CONNECT", line("CONNECT a.b:443 HTTP/1.1"), "connect"},
      {"authority, GET", line("GET a.b:443 HTTP/1.1"), "get bad-target"},
      {"origin, CONNECT", line("CONNECT / HTTP/1.1"), "connect bad-target"},
      {"absolute, CONNECT", line("CONNECT http://a/ HTTP/1.1"), "connect bad-target"},
      {"asterisk, CONNECT", line("CONNECT * HTTP/1.1"), "connect bad-target"},
      {"no port, CONNECT", line("CONNECT a HTTP/1.1"), "connect bad-target"},
      {"no slash", line("GET a/b HTTP/1.1"), "get bad-target"},
      {"query alone", line("GET ?a HTTP/1.1"), "get bad-target"},
      {"fragment", line("GET /#a HTTP/1.1"), "get bad-target"},
      {"backslash", line("GET /\\a HTTP/1.1"), "get bad-target"},
      {"brackets", line("GET /[a] HTTP/1.1"), "get bad-target"},
      {"brackets in query", line("GET /?[a] HTTP/1.1"), "get bad-target"},
      {"percent alone", line("GET /% HTTP/1.1"), "get bad-target"},
      {"percent and one digit", line("GET /%4 HTTP/1.1"), "get bad-target"},
      {"percent and letters", line("GET /%zz HTTP/1.1"), "get bad-target"},
      {"percent in query", line("GET /?%4 HTTP/1.1"), "get bad-target"},
      {"odd octet in absolute form", line("GET http://a/\x80 HTTP/1.1"), "get bad-target"},
      {"empty", line("GET  HTTP/1.1"), "failed: bad_request_target"},
      {"two spaces before", line("GET  / HTTP/1.1"), "failed: bad_request_target"},
      {"two spaces behind", line("GET /  HTTP/1.1"), "failed: bad_version"},
      {"tab behind", line("GET /\tHTTP/1.1"), "failed: bad_request_target"},
      {"space inside", line("GET /a b HTTP/1.1"), "failed: bad_version"},
      {"HTTP/0.9", "GET /\r\n", "failed: bad_request_target"},
      {"HTTP/0.9, LF", "GET /\n", "failed: bad_request_target"},
      {"NUL", line("GET /\0 HTTP/1.1"s), "failed: bad_request_target"},
      {"DEL", line("GET /\x7f HTTP/1.1"), "failed: bad_request_target"},
      {"health", line("GET /healthz HTTP/1.1"), "get health-path"},
      {"health, with query", line("GET /healthz?a HTTP/1.1"), "get health-path"},
      {"health, absolute", line("GET http://a/healthz?a HTTP/1.1"), "get health-path"},
      {"health, longer", line("GET /healthz/ HTTP/1.1"), "get"},
      {"health, longer", line("GET /healthzz HTTP/1.1"), "get"},
      {"health, shorter", line("GET /health HTTP/1.1"), "get"},
      {"health, other case", line("GET /Healthz HTTP/1.1"), "get"},
      {"health, in query", line("GET /?/healthz HTTP/1.1"), "get"},
  });
}

TEST(RequestParser, EveryOctetInATarget) {
  const std::string allowed = "-._~!$&'()*+,;=:@/?";
  for (int value = 0; value < 256; ++value) {
    const char octet = static_cast<char>(value);
    if (octet == ' ' || octet == '%') continue;
    const bool is_alphanumeric =
        (value >= '0' && value <= '9') || (value >= 'A' && value <= 'Z') || (value >= 'a' && value <= 'z');
    const bool is_good = is_alphanumeric || allowed.find(octet) != std::string::npos;
    const bool is_control = value < 32 || value == 127;
    check({{"octet " + std::to_string(value), line("GET /a"s + octet + "b HTTP/1.1"),
            is_good      ? "get"
            : is_control ? "failed: bad_request_target"
                         : "get bad-target"}});
  }
}

TEST(RequestParser, Versions) {
  check({
      {"1.0", line("GET / HTTP/1.0"), "get 1.0"},
      {"1.2", line("GET / HTTP/1.2"), "get"},
      {"1.9", line("GET / HTTP/1.9"), "get"},
      {"2.0", line("GET / HTTP/2.0"), "failed: unsupported_version"},
      {"0.9", line("GET / HTTP/0.9"), "failed: unsupported_version"},
      {"3.0, alone", "GET / HTTP/3.0\r\n", "failed: unsupported_version"},
      {"9.9", line("GET / HTTP/9.9"), "failed: unsupported_version"},
      {"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "failed: unsupported_version"},
      {"lower case", line("GET / http/1.1"), "failed: bad_version"},
      {"one letter lower", line("GET / HTTp/1.1"), "failed: bad_version"},
      {"no minor", line("GET / HTTP/1"), "failed: bad_version"},
      {"no minor digit", line("GET / HTTP/1."), "failed: bad_version"},
      {"comma", line("GET / HTTP/1,1"), "failed: bad_version"},
      {"no slash", line("GET / HTTP1.1"), "failed: bad_version"},
      {"two digits", line("GET / HTTP/1.10"), "failed: bad_version"},
      {"two digits before", line("GET / HTTP/11.1"), "failed: bad_version"},
      {"leading zero", line("GET / HTTP/01.1"), "failed: bad_version"},
      {"octet before 0", line("GET / HTTP//.1"), "failed: bad_version"},
      {"octet behind 9", line("GET / HTTP/1.:"), "failed: bad_version"},
      {"another protocol", line("GET / HTTPS/1.1"), "failed: bad_version"},
      {"empty", line("GET / "), "failed: bad_version"},
      {"space behind", line("GET / HTTP/1.1 "), "failed: bad_version"},
      {"tab behind", line("GET / HTTP/1.1\t"), "failed: bad_version"},
      {"a fourth part", line("GET / HTTP/1.1 x"), "failed: bad_version"},
      {"bare LF", "GET / HTTP/1.1\nHost: h\r\n\r\n", "failed: bad_version"},
      {"bare CR", "GET / HTTP/1.1\rHost: h\r\n\r\n", "failed: bare_line_end"},
      {"CR CR LF", "GET / HTTP/1.1\r\r\nHost: h\r\n\r\n", "failed: bare_line_end"},
      {"CR and a space", "GET / HTTP/1.0\r \nHost: h\r\n\r\n", "failed: bare_line_end"},
      {"bare LF, 1.0", "GET / HTTP/1.0\nHost: h\r\n\r\n", "failed: bad_version"},
      {"the version twice", line("GET / HTTP/1.1HTTP/1.1"), "failed: bad_version"},
  });
}

TEST(RequestParser, LeadingEmptyLines) {
  check({
      {"one", "\r\n" + get(""), "get"},
      {"one before content", "\r\n" + post("Content-Length: 2\r\n", "{}x"), "post length: {} + x"},
      {"one before chunks", "\r\n" + chunked("2\r\n{}\r\n0\r\n\r\nx"), "post chunked: {} + x"},
      {"alone", "\r\n", "need more"},
      {"CR alone", "\r", "need more"},
      {"two", "\r\n\r\n" + get(""), "failed: repeated_empty_line"},
      {"two, alone", "\r\n\r\n", "failed: repeated_empty_line"},
      {"bare CR", "\r" + get(""), "failed: bare_line_end"},
      {"CR CR LF", "\r\r\n" + get(""), "failed: bare_line_end"},
      {"bare LF", "\n" + get(""), "failed: bad_method"},
      {"CR LF LF", "\r\n\n" + get(""), "failed: bad_method"},
      {"space", " \r\n" + get(""), "failed: bad_method"},
  });
}

TEST(RequestParser, Hosts) {
  const auto hosts = [](const std::string& lines, const std::string& version = "1.1") {
    return "GET / HTTP/" + version + "\r\n" + lines + "\r\n";
  };
  check({
      {"none", hosts(""), "get bad-host"},
      {"none, 1.2", hosts("", "1.2"), "get bad-host"},
      {"none, 1.0", hosts("", "1.0"), "get 1.0"},
      {"any case", hosts("HOST: h\r\n"), "get"},
      {"no white space", hosts("Host:h\r\n"), "get"},
      {"much white space", hosts("Host: \t   h \t\r\n"), "get"},
      {"port", hosts("Host: h:80\r\n"), "get"},
      {"empty port", hosts("Host: h:\r\n"), "get"},
      {"IPv6", hosts("Host: [::1]:80\r\n"), "get"},
      {"last", hosts("A: b\r\nC: d\r\nHost: h\r\n"), "get"},
      {"two", hosts("Host: h\r\nHost: h\r\n"), "get bad-host"},
      {"two, apart", hosts("Host: h\r\nA: b\r\nhost: i\r\n"), "get bad-host"},
      {"two, 1.0", hosts("Host: h\r\nHost: h\r\n", "1.0"), "get 1.0 bad-host"},
      {"two, the first bad", hosts("Host: \r\nHost: h\r\n"), "get bad-host"},
      {"empty", hosts("Host:\r\n"), "get bad-host"},
      {"empty, 1.0", hosts("Host:\r\n", "1.0"), "get 1.0 bad-host"},
      {"blank", hosts("Host: \t \r\n"), "get bad-host"},
      {"list", hosts("Host: a, b\r\n"), "get bad-host"},
      {"user", hosts("Host: u@h\r\n"), "get bad-host"},
      {"path", hosts("Host: h/p\r\n"), "get bad-host"},
      {"scheme", hosts("Host: http://h\r\n"), "get bad-host"},
      {"octets above 7f", hosts("Host: h\xc3\xa9\r\n"), "get bad-host"},
      {"space inside", hosts("Host: a b\r\n"), "get bad-host"},
      {"space before the colon", hosts("Host : h\r\n"), "failed: bad_field_line"},
      {"absolute form needs it", "GET http://a/ HTTP/1.1\r\n\r\n", "get bad-host"},
      {"absolute form needs a good one", "GET http://a/ HTTP/1.1\r\nHost: @\r\n\r\n", "get bad-host"},
      {"absolute form, another", "GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n", "get"},
  });
}

TEST(RequestParser, FieldLines) {
  check({
      {"empty value", get("A:\r\n"), "get"},
      {"blank value", get("A: \t \r\n"), "get"},
      {"tabs inside", get("A: b\tc\td\r\n"), "get"},
      {"octets 80 to ff", get("A: \x80\xc3\xa9\xff\r\n"), "get"},
      {"colons in the value", get("A: b:c::d\r\n"), "get"},
      {"every tchar in the name", get("!#$%&'*+-.^_`|~09azAZ: b\r\n"), "get"},
      {"a value of 4000", get("A: " + std::string(4000, 'b') + "\r\n"), "get"},
      {"repeated", get("Accept: a\r\nAccept: b\r\n"), "get"},
      {"space before the colon", get("A : b\r\n"), "failed: bad_field_line"},
      {"tab before the colon", get("A\t: b\r\n"), "failed: bad_field_line"},
      {"no colon", get("A\r\n"), "failed: bad_field_line"},
      {"no name", get(": b\r\n"), "failed: bad_field_line"},
      {"space in the name", get("A B: c\r\n"), "failed: bad_field_line"},
      {"folded", get("A: b\r\n c\r\n"), "failed: bad_field_line"},
      {"folded with a tab", get("A: b\r\n\tc\r\n"), "failed: bad_field_line"},
      {"folded to nothing", get("A: b\r\n \r\n"), "failed: bad_field_line"},
      {"white space before the first", "GET / HTTP/1.1\r\n Host: h\r\n\r\n", "failed: bad_field_line"},
      {"a line of white space", "GET / HTTP/1.1\r\n \r\nHost: h\r\n\r\n", "failed: bad_field_line"},
      {"bare LF", get("A: b\n"), "failed: bad_field_line"},
      {"bare CR", get("A: b\rC: d\r\n"), "failed: bare_line_end"},
      {"CR CR LF", get("A: b\r\r\n"), "failed: bare_line_end"},
      {"bare LF ends the section", "GET / HTTP/1.1\r\nHost: h\r\n\n", "failed: bad_field_line"},
      {"bare CR ends the section", "GET / HTTP/1.1\r\nHost: h\r\n\rG", "failed: bare_line_end"},
      {"CR CR LF ends the section", "GET / HTTP/1.1\r\nHost: h\r\n\r\r\n", "failed: bare_line_end"},
      {"CR in a name", get("A\rB: c\r\n"), "failed: bad_field_line"},
      {"LF in a name", get("A\nB: c\r\n"), "failed: bad_field_line"},
  });
}

TEST(RequestParser, EveryOctetInAFieldName) {
  for (int value = 0; value < 256; ++value) {
    const char octet = static_cast<char>(value);
    const bool is_good = kTokenOctet[octet] || octet == ':';
    check({{"inside, octet " + std::to_string(value), get("A"s + octet + "B: c\r\n"),
            is_good ? "get" : "failed: bad_field_line"},
           {"first, octet " + std::to_string(value), get(octet + "B: c\r\n"s),
            kTokenOctet[octet] ? "get"
            : octet == '\r'    ? "failed: bare_line_end"
                               : "failed: bad_field_line"}});
  }
}

TEST(RequestParser, EveryOctetInAFieldValue) {
  for (int value = 0; value < 256; ++value) {
    const char octet = static_cast<char>(value);
    const bool is_control = (value < 32 && value != '\t') || value == 127;
    const std::string fault = octet == '\r' ? "failed: bare_line_end" : "failed: bad_field_line";
    for (const std::string padding : {"", "0123456789abcdef"}) {  // the search goes in steps of sixteen
      check({{"octet " + std::to_string(value), get("A: " + padding + octet + "b\r\n"),
              is_control ? fault : "get"}});
    }
  }
}

TEST(RequestParser, ConnectionOptions) {
  check({
      {"close", get("Connection: close\r\n"), "get close"},
      {"any case", get("CONNECTION: ClOsE\r\n"), "get close"},
      {"among others", get("Connection: a, ,close ,\tkeep-alive\r\n"), "get close keep-alive"},
      {"on another line", get("Connection: keep-alive\r\nA: b\r\nConnection: close\r\n"),
       "get close keep-alive"},
      {"keep-alive", get("Connection: Keep-Alive\r\n"), "get keep-alive"},
      {"look-alikes", get("Connection: closed, xclose, clos, keep, alive, keep-alive2\r\n"), "get"},
      {"two words", get("Connection: close keep-alive\r\n"), "get"},
      {"empty", get("Connection:\r\n"), "get"},
      {"commas", get("Connection: ,,\r\n"), "get"},
      {"another field", get("Proxy-Connection: close\r\n"), "get"},
  });
}

TEST(RequestParser, Expectations) {
  const auto expect = [](const std::string& value, const std::string& version = "1.1") {
    return "POST / HTTP/" + version + "\r\nHost: h\r\nExpect: " + value + "\r\nContent-Length: 2\r\n\r\n{}";
  };
  check({
      {"100-continue", expect("100-continue"), "post expects-continue length: {}"},
      {"any case", expect("100-CONTINUE"), "post expects-continue length: {}"},
      {"1.0", expect("100-continue", "1.0"), "post 1.0 length: {}"},
      {"another", expect("x"), "post unknown-expectation length: {}"},
      {"another beside it", expect("100-continue, x"),
       "post expects-continue unknown-expectation length: {}"},
      {"look-alike", expect("100-continues"), "post unknown-expectation length: {}"},
      {"with a parameter", expect("100-continue;a=b"), "post unknown-expectation length: {}"},
      {"empty", expect(""), "post length: {}"},
      {"without content", get("Expect: 100-continue\r\n"), "get expects-continue"},
  });
}

TEST(RequestParser, ContentCodings) {
  check({
      {"gzip", get("Content-Encoding: gzip\r\n"), "get coded"},
      {"identity", get("Content-Encoding: Identity\r\n"), "get"},
      {"identity, then gzip", get("Content-Encoding: identity, gzip\r\n"), "get coded"},
      {"on two lines", get("Content-Encoding: identity\r\nContent-Encoding: br\r\n"), "get coded"},
      {"empty", get("Content-Encoding:\r\n"), "get"},
      {"another field", get("Accept-Encoding: gzip\r\n"), "get"},
  });
}

TEST(RequestParser, CountedContent) {
  const auto counted = [](const std::string& length, const std::string& rest) {
    return post("Content-Length: " + length + "\r\n", rest);
  };
  check({
      {"exactly", counted("2", "{}"), "post length: {}"},
      {"and more behind", counted("2", "{}GET"), "post length: {} + GET"},
      {"none", counted("0", ""), "post length: "},
      {"none, more behind", counted("0", "X"), "post length:  + X"},
      {"less than announced", counted("3", "{}"), "need more"},
      {"none of it", counted("3", ""), "need more"},
      {"leading zeros", counted("0002", "{}"), "post length: {}"},
      {"never octal", counted("010", "0123456789"), "post length: 0123456789"},
      {"white space", counted(" \t 2 \t", "{}"), "post length: {}"},
      {"any case", post("cONTENT-lENGTH: 2\r\n", "{}"), "post length: {}"},
      {"no length is no content", post("", "{}"), "post + {}"},
      {"GET too", get("Content-Length: 2\r\n") + "{}", "get length: {}"},
      {"GET, none", get("Content-Length: 0\r\n"), "get length: "},
      {"any octets", counted("6", "\r\n\0\xff\r\n"s), "post length: \r\n\0\xff\r\n"s},
      {"a request inside", counted("18", "GET / HTTP/1.1\r\n\r\n"), "post length: GET / HTTP/1.1\r\n\r\n"},
      {"look-alikes", post("Content_Length: 9\r\nContent-Length2: 9\r\nX-Content-Length: 9\r\n", ""), "post"},
      {"sign", counted("+2", "{}"), "failed: bad_content_length"},
      {"empty", counted("", "{}"), "failed: bad_content_length"},
      {"fold", counted("2\r\n 2", "{}"), "failed: bad_field_line"},
      {"NUL", counted("2\0"s, "{}"), "failed: bad_field_line"},
      {"VT", counted("\v2", "{}"), "failed: bad_field_line"},
      {"space before the colon", post("Content-Length : 2\r\n", "{}"), "failed: bad_field_line"},
      {"two on one line", counted("2, 2", "{}"), "failed: bad_content_length"},
      {"two equal", counted("2\r\nContent-Length: 2", "{}"), "failed: repeated_content_length"},
      {"two", counted("2\r\nContent-Length: 3", "{}"), "failed: repeated_content_length"},
      {"beyond 64 bits", counted("18446744073709551618", "{}"), "failed: bad_content_length"},
      {"2^32 + 13", counted("4294967309", "{}"), "failed: content_too_large"},
      {"large, GET", get("Content-Length: 999999999\r\n"), "failed: content_too_large"},
  });
}

TEST(RequestParser, ChunkedContent) {
  check({
      {"one chunk", chunked("2\r\n{}\r\n0\r\n\r\n"), "post chunked: {}"},
      {"and more behind", chunked("2\r\n{}\r\n0\r\n\r\nGET"), "post chunked: {} + GET"},
      {"three chunks", chunked("1\r\n[\r\n3\r\n1,2\r\n1\r\n]\r\n0\r\n\r\n"), "post chunked: [1,2]"},
      {"none", chunked("0\r\n\r\n"), "post chunked: "},
      {"extensions and trailers", chunked("2;a=\"\\\"\"\r\n{}\r\n0;b\r\nC: d\r\n\r\n+"),
       "post chunked: {} + +"},
      {"no last chunk", chunked("2\r\n{}\r\n"), "need more"},
      {"no final line end", chunked("2\r\n{}\r\n0\r\n"), "need more"},
      {"a bad size", chunked("2\r\n{}\r\nx\r\n\r\n"), "failed: bad_chunk"},
      {"a bad trailer", chunked("2\r\n{}\r\n0\r\nA b\r\n\r\n"), "failed: bad_trailer"},
      {"too large", chunked("100001\r\n"), "failed: content_too_large"},
      {"any case", post("TRANSFER-encoding: \tChunKED \r\n", "0\r\n\r\n"), "post chunked: "},
      {"GET too", get("Transfer-Encoding: chunked\r\n") + "2\r\n{}\r\n0\r\n\r\n", "get chunked: {}"},
      {"another coding", post("Transfer-Encoding: gzip\r\n", "x"), "failed: unknown_transfer_coding"},
      {"VT", post("Transfer-Encoding: \vchunked\r\n", "0\r\n\r\n"), "failed: bad_field_line"},
      {"with a length", post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"),
       "failed: content_length_and_transfer_encoding"},
      {"with a length first", post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
       "failed: content_length_and_transfer_encoding"},
      {"1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       "failed: transfer_encoding_in_http_1_0"},
      {"look-alikes", post("Transfer_Encoding: chunked\r\nTE: chunked\r\n", ""), "post"},
  });
}

TEST(RequestParser, HeadLimits) {
  Limits limits;
  limits.head_size_max = 200;
  limits.field_count_max = 3;
  limits.method_size_max = 10;
  const auto of_size = [](std::size_t size) {
    const std::string rest = get("A: \r\n");
    return get("A: " + std::string(size - rest.size(), 'a') + "\r\n");
  };
  const auto target_of_size = [](std::size_t size) {
    return line("GET /" + std::string(size - line("GET / HTTP/1.1").size(), 'a') + " HTTP/1.1");
  };
  check(
      {
          {"head at the limit", of_size(200), "get"},
          {"head at the limit, then content", of_size(180).substr(0, 178) + "Content-Length: 2\r\n\r\n{}",
           "get length: {}"},
          {"head one over", of_size(201), "failed: head_too_large"},
          {"head far over", of_size(5000), "failed: head_too_large"},
          {"target at the limit", target_of_size(200), "get"},
          {"the target fits, its field line does not", target_of_size(201), "failed: head_too_large"},
          {"target fills it", "GET /" + std::string(195, 'a'), "failed: request_target_too_long"},
          {"target over", target_of_size(1000), "failed: request_target_too_long"},
          {"target without an end", "GET /" + std::string(300, 'a'), "failed: request_target_too_long"},
          {"the version does not fit", "GET /" + std::string(190, 'a') + " HTTP/1.1\r\n\r\n",
           "failed: request_target_too_long"},
          {"no room for the rest of an ended line", get("A: " + std::string(170, 'a') + "\r\n"),
           "failed: head_too_large"},
          {"a long name", get(std::string(300, 'a') + ": b\r\n"), "failed: head_too_large"},
          {"method at the limit", line("ABCDEFGHIJ / HTTP/1.1"), "other"},
          {"method one over", line("ABCDEFGHIJK / HTTP/1.1"), "failed: method_too_long"},
          {"method without an end", std::string(300, 'A'), "failed: method_too_long"},
          {"fields at the limit", get("A: b\r\nC: d\r\n"), "get"},
          {"one field more", get("A: b\r\nC: d\r\nE: f\r\n"), "failed: head_too_large"},
          {"a fault within the limit comes first", get("A b\r\nC: " + std::string(300, 'a')),
           "failed: bad_field_line"},
          {"a fault beyond it is not met", of_size(198).substr(0, 196) + "ABCDEFGH b\r\n\r\n",
           "failed: head_too_large"},
          {"an empty line counts", "\r\n" + of_size(199), "failed: head_too_large"},
          {"an empty line fits", "\r\n" + of_size(198), "get"},
      },
      limits);
}

TEST(RequestParser, BodyLimits) {
  Limits limits;
  limits.body_size_max = 10;
  limits.head_size_max = 100;
  const auto counted = [](std::size_t size) {
    return post("Content-Length: " + std::to_string(size) + "\r\n", std::string(size, 'a'));
  };
  check(
      {
          {"at the limit", counted(10), "post length: aaaaaaaaaa"},
          {"one over", counted(11), "failed: content_too_large"},
          {"one over, none of it there", post("Content-Length: 11\r\n", ""), "failed: content_too_large"},
          {"chunk at the limit", chunked("a\r\naaaaaaaaaa\r\n0\r\n\r\n"), "post chunked: aaaaaaaaaa"},
          {"chunks at the limit", chunked("4\r\naaaa\r\n6\r\naaaaaa\r\n0\r\n\r\n"),
           "post chunked: aaaaaaaaaa"},
          {"chunk one over", chunked("b\r\n"), "failed: content_too_large"},
          {"chunks one over", chunked("4\r\naaaa\r\n7\r\n"), "failed: content_too_large"},
          {"content does not count as head",
           post("Content-Length: 10\r\nA: " + std::string(39, 'a') + "\r\n", "aaaaaaaaaa"),
           "post length: aaaaaaaaaa"},
      },
      limits);
}

TEST(RequestParser, LargeRequestsInPieces) {
  const std::string content(64 * 1024, 'c');
  std::string chunks;
  for (int i = 0; i < 1000; ++i) chunks += "5;ext=1\r\nabcde\r\n";
  std::string decoded;
  for (int i = 0; i < 1000; ++i) decoded += "abcde";
  std::string fields;
  for (int i = 0; i < 64; ++i)
    fields += "X-Field-" + std::to_string(i) + ": value " + std::to_string(i) + "\r\n";
  check({
      {"64 KiB of content", post("Content-Length: 65536\r\n", content + "+"),
       "post length: " + content + " + +"},
      {"a thousand chunks", chunked(chunks + "0\r\n\r\n+"), "post chunked: " + decoded + " + +"},
      {"65 fields", get(fields), "get"},
  });
}

TEST(RequestParser, APrefixOfAGoodRequestIsNeverRefused) {
  const std::string requests[] = {
      "\r\nGET /a?b HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
      get("Accept: a, b\r\nX: \x80\r\n"),
      post("Content-Length: 13\r\nExpect: 100-continue\r\n", "{\"colors\":[]}"),
      chunked("a;b=\"c\\\"d\" ; e\r\n0123456789\r\n00\r\nA: b\r\n\r\n"),
      line("OPTIONS * HTTP/1.1"),
      "POST http://[::1]:80/a HTTP/1.1\r\nTransfer-Encoding: ,chunked\r\nHost: h\r\n\r\n0\r\n\r\n",
  };
  for (const std::string& request : requests) {
    for (std::size_t size = 0; size < request.size(); ++size) {
      const std::string prefix = request.substr(0, size);
      for (const Cutting& cutting : {Cutting{size}, test::pieces_of(1, size)}) {
        EXPECT_EQ(test::read_request(prefix, cutting, {}), "need more") << prefix;
      }
    }
  }
}

TEST(RequestParser, TellsHowFarItHasCome) {
  const Limits limits;
  RequestParser parser(limits);
  EXPECT_FALSE(parser.has_begun());
  std::string wire = "\r\n";
  EXPECT_EQ(parser.parse_head(wire), RequestParser::Outcome::need_more);
  EXPECT_FALSE(parser.has_begun()) << "an empty line is no request";
  wire += "H";
  EXPECT_EQ(parser.parse_head(wire), RequestParser::Outcome::need_more);
  EXPECT_TRUE(parser.has_begun());
  wire += "EAD ";
  EXPECT_EQ(parser.parse_head(wire), RequestParser::Outcome::need_more);
  EXPECT_EQ(parser.request().method, Method::head) << "known before the head is complete";
  EXPECT_FALSE(parser.is_head_complete());
  wire += "/a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n";
  EXPECT_EQ(parser.parse_head(wire), RequestParser::Outcome::complete);
  EXPECT_TRUE(parser.is_head_complete());
  EXPECT_EQ(parser.request_line(wire), "HEAD /a HTTP/1.1");
  EXPECT_FALSE(parser.has_body_begun(wire.size()));
  EXPECT_TRUE(parser.has_body_begun(wire.size() + 1));
  EXPECT_EQ(parser.message_size_expected(), wire.size() + 3);
  EXPECT_EQ(parser.parse_body(wire), RequestParser::Outcome::need_more);
  EXPECT_EQ(parser.retained_size(wire.size()), wire.size());
  wire += "abc+";
  EXPECT_EQ(parser.parse_head(wire), RequestParser::Outcome::complete);
  EXPECT_EQ(parser.parse_body(wire), RequestParser::Outcome::complete);
  EXPECT_EQ(parser.content(wire), "abc");
  EXPECT_EQ(parser.message_size(), wire.size() - 1);
}

// Room is made for the message expected: a length that nothing has judged yet must not decide how much.
TEST(RequestParser, ExpectsNothingBeforeTheHeadIsComplete) {
  const Limits limits;
  for (const std::string length : {"1000", "999999999999", "18446744073709551615"}) {
    RequestParser parser(limits);
    const std::string wire = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: " + length + "\r\nA";
    EXPECT_EQ(parser.parse_head(wire), RequestParser::Outcome::need_more);
    EXPECT_EQ(parser.message_size_expected(), 0U) << length;
  }
}

TEST(RequestParser, TheRequestLineIsWholeWhereverItIsCut) {
  const Limits limits;
  for (const std::string version : {"1.0", "1.1", "1.7"}) {
    const std::string request_line = "GET /a?b HTTP/" + version;
    const std::string wire = "\r\n" + line(request_line);
    for (std::size_t cut = 1; cut <= wire.size(); ++cut) {
      RequestParser parser(limits);
      (void)parser.parse_head(std::string_view(wire).substr(0, cut));
      ASSERT_EQ(parser.parse_head(wire), RequestParser::Outcome::complete);
      EXPECT_EQ(parser.request_line(wire), request_line) << "cut at " << cut;
    }
  }
}

TEST(RequestParser, PersistenceFollowsVersionAndOptions) {
  for (const bool is_http_1_0 : {false, true}) {
    for (const bool closes : {false, true}) {
      for (const bool keeps : {false, true}) {
        const Request request{
            .is_http_1_0 = is_http_1_0, .has_close_option = closes, .has_keep_alive_option = keeps};
        EXPECT_EQ(request.is_persistent(), !closes && (keeps || !is_http_1_0));
      }
    }
  }
}

}  // namespace
}  // namespace rest_echo::http
