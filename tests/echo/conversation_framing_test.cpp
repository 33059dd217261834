// Where a request ends, and what is answered when that cannot be told.

#include <string>
#include <vector>

#include "echo/rows.hpp"

namespace rest_echo::echo {
namespace {

using namespace std::string_literals;
using enum Ending;

const Answer kEchoed = echoed(kDocument);
const std::string kInOneChunk = chunk(kDocument) + kLastChunk;

/// POST with this Content-Length text and the document behind the head.
std::string counted(const std::string& length) {
  return request("POST / HTTP/1.1", "Content-Length:" + length + "\r\n") + kDocument;
}
/// POST with this Transfer-Encoding text and the document in one chunk.
std::string coded(const std::string& coding) {
  return request("POST / HTTP/1.1", "Transfer-Encoding:" + coding + "\r\n") + kInOneChunk;
}

TEST(Conversation, ContentLength) {
  const std::string size = std::to_string(kDocument.size());
  check({
      {"white space", counted(" \t" + size + "\t "), {kEchoed}},
      {"any case", request("POST / HTTP/1.1", "content-LENGTH: " + size + "\r\n") + kDocument, {kEchoed}},
      {"leading zeros", counted("0000" + size), {kEchoed}},
      {"leading zeros are not octal",
       request("POST / HTTP/1.1", "Content-Length: 010\r\n") + "{       }" + " " + get(),
       {echoed(R"({"colors":null})"), kHello}},
      {"look-alikes", get("Content_Length: 5\r\nX-Content-Length: 5\r\n"), {kHello}},
      {"less content than announced", counted("1" + size), {}, inside},
      {"head alone", request("POST / HTTP/1.1", "Content-Length: 1\r\n"), {}, inside},
      {"GET with length 0", get("Content-Length: 0\r\n"), {kHello}},
      {"octets beyond are the next request", counted(size) + get(), {kEchoed, kHello}},
      {"sign", counted("+" + size), {400}, closes},
      {"minus", counted("-1"), {400}, closes},
      {"minus 0", counted("-0"), {400}, closes},
      {"0x", counted("0x2"), {400}, closes},
      {"0o", counted("0o2"), {400}, closes},
      {"underscore", counted("1_0"), {400}, closes},
      {"inner space", counted("1 0"), {400}, closes},
      {"letters", counted("ten"), {400}, closes},
      {"digits and letters", counted("2x"), {400}, closes},
      {"fraction", counted("2.0"), {400}, closes},
      {"empty", counted(""), {400}, closes},
      {"blank", counted(" "), {400}, closes},
      {"comma", counted(","), {400}, closes},
      {"quotes", counted("\"2\""), {400}, closes},
      {"parameter", counted("2;a=b"), {400}, closes},
      {"NUL", counted("2\0"s), {400}, closes},
      {"VT", counted("\v2"), {400}, closes},
      {"other scripts' digits", counted("\xd9\xa2"), {400}, closes},
      {"fold", counted("\r\n 2"), {400}, closes},
      {"two, one line", counted(" 2, 3"), {400}, closes},
      {"two equal, one line", counted(" 2, 2"), {400}, closes},
      {"two", counted("2\r\nContent-Length: 3"), {400}, closes},
      {"two equal", counted(size + "\r\nContent-Length: " + size), {400}, closes},
      {"2^64 + 2", counted("18446744073709551618"), {400}, closes},
      {"23 digits", counted("99999999999999999999999"), {400}, closes},
      {"2^32 + 13", counted("4294967309"), {413}, closes},
      {"2^63", counted("9223372036854775808"), {413}, closes},
      {"space before the colon", request("POST / HTTP/1.1", "Content-Length : 2\r\n") + "{}", {400}, closes},
      {"a bad length, then a request", counted("x") + get(), {400}, closes},
  });
}

TEST(Conversation, TransferEncoding) {
  check({
      {"chunked", coded(" chunked"), {kEchoed}},
      {"any case", coded("CHUNKED"), {kEchoed}},
      {"white space", coded("\t chunked \t"), {kEchoed}},
      {"empty members", coded(" ,chunked, ,"), {kEchoed}},
      {"GET", request("GET / HTTP/1.1", "Transfer-Encoding: chunked\r\n") + kInOneChunk, {kEchoed}},
      {"GET, no content", request("GET / HTTP/1.1", "Transfer-Encoding: chunked\r\n") + kLastChunk, {kHello}},
      {"look-alikes", get("Transfer_Encoding: chunked\r\nTE: trailers, chunked\r\n"), {kHello}},
      {"gzip", coded("gzip"), {501}, closes},
      {"gzip, chunked", coded("gzip, chunked"), {501}, closes},
      {"identity", coded("identity"), {501}, closes},
      {"xchunked", coded("xchunked"), {501}, closes},
      {"chunked, gzip", coded("chunked, gzip"), {400}, closes},
      {"chunked, identity", coded("chunked, identity"), {400}, closes},
      {"chunked twice", coded("chunked, chunked"), {400}, closes},
      {"chunked on two lines", coded("chunked\r\nTransfer-Encoding: chunked"), {400}, closes},
      {"empty", coded(""), {400}, closes},
      {"comma", coded(","), {400}, closes},
      {"parameter", coded("chunked;q=1"), {400}, closes},
      {"semicolon", coded("chunked;"), {400}, closes},
      {"quotes", coded("\"chunked\""), {400}, closes},
      {"two words", coded("chunked x"), {400}, closes},
      {"NUL", coded("chunked\0"s), {400}, closes},
      {"VT", coded("\vchunked"), {400}, closes},
      {"FF", coded("chunked\f"), {400}, closes},
      {"CR", coded("chunked\rx"), {400}, closes},
      {"fold", coded("\r\n chunked"), {400}, closes},
      {"space before the colon",
       request("POST / HTTP/1.1", "Transfer-Encoding : chunked\r\n") + kInOneChunk,
       {400},
       closes},
      {"1.0", request("POST / HTTP/1.0", "Transfer-Encoding: chunked\r\n") + kInOneChunk, {400}, closes},
      {"1.0, keep-alive",
       request("POST / HTTP/1.0", "Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n") + kInOneChunk,
       {400},
       closes},
  });
}

TEST(Conversation, Chunks) {
  std::string octet_by_octet;
  for (const char octet : kDocument) octet_by_octet += chunk(std::string(1, octet));
  std::string with_extensions;
  for (const char octet : kDocument) with_extensions += "1;ext=1\r\n"s + octet + "\r\n";
  check({
      {"one", chunked(kInOneChunk), {kEchoed}},
      {"one, then another request", chunked(kInOneChunk) + get(), {kEchoed, kHello}},
      {"octet by octet", chunked(octet_by_octet + kLastChunk) + get(), {kEchoed, kHello}},
      {"each with an extension", chunked(with_extensions + kLastChunk) + get(), {kEchoed, kHello}},
      {"leading zeros", chunked("000002\r\n{}\r\n0000\r\n\r\n"), {echoed(R"({"colors":null})")}},
      {"a hundred leading zeros",
       chunked(std::string(100, '0') + "2\r\n{}\r\n0\r\n\r\n"),
       {echoed(R"({"colors":null})")}},
      {"upper case", chunked("A\r\n{        }\r\n0\r\n\r\n"), {echoed(R"({"colors":null})")}},
      {"not JSON", chunked(chunk("{") + kLastChunk) + get(), {400, kHello}},
      {"no last chunk", chunked(chunk(kDocument)), {}, inside},
      {"no final line end", chunked(chunk(kDocument) + "0\r\n"), {}, inside},
      {"head alone", chunked(""), {}, inside},
      {"0x", chunked("0x2\r\n{}\r\n0\r\n\r\n"), {400}, closes},
      {"sign", chunked("+2\r\n{}\r\n0\r\n\r\n"), {400}, closes},
      {"white space before", chunked(" 2\r\n{}\r\n0\r\n\r\n"), {400}, closes},
      {"white space behind", chunked("2 \r\n{}\r\n0\r\n\r\n"), {400}, closes},
      {"underscore", chunked("0_2\r\n{}\r\n0\r\n\r\n"), {400}, closes},
      {"no size", chunked("\r\n{}\r\n0\r\n\r\n"), {400}, closes},
      {"letters", chunked("xyz\r\n"), {400}, closes},
      {"NUL", chunked("2\0\r\n{}\r\n0\r\n\r\n"s), {400}, closes},
      {"17 digits", chunked("1ffffffffffffffff\r\n"), {400}, closes},
      {"16 digits", chunked("ffffffffffffffff\r\n"), {413}, closes},
      {"2^32 + 2", chunked("100000002\r\n"), {413}, closes},
      {"bare LF behind the size", chunked("2\n{}\r\n0\r\n\r\n"), {400}, closes},
      {"bare LF behind the data", chunked("2\r\n{}\n0\r\n\r\n"), {400}, closes},
      {"no line end behind the data", chunked("2\r\n{}0\r\n\r\n"), {400}, closes},
      {"data longer than the size", chunked("1\r\n{}\r\n0\r\n\r\n"), {400}, closes},
      {"bare LF behind the last chunk", chunked("2\r\n{}\r\n0\n\r\n"), {400}, closes},
      {"bare LF at the end", chunked("2\r\n{}\r\n0\r\n\n"), {400}, closes},
      {"extension", chunked("2;a=b\r\n{}\r\n0;c\r\n\r\n"), {echoed(R"({"colors":null})")}},
      {"extension, quoted", chunked("2 ; a = \"b;\\\"\"\r\n{}\r\n0\r\n\r\n"), {echoed(R"({"colors":null})")}},
      {"extension without a name", chunked("2;\r\n{}\r\n0\r\n\r\n"), {400}, closes},
      {"extension without a value", chunked("2;a=\r\n{}\r\n0\r\n\r\n"), {400}, closes},
      {"two semicolons", chunked("2;;a\r\n{}\r\n0\r\n\r\n"), {400}, closes},
      {"open quote", chunked("2;a=\"b\r\n{}\r\n0\r\n\r\n"), {400}, closes},
      {"octets behind a quote", chunked("2;a=\"b\"c\r\n{}\r\n0\r\n\r\n"), {400}, closes},
      {"bare LF in an extension", chunked("2;a\nb\r\n{}\r\n0\r\n\r\n"), {400}, closes},
      {"bare LF in a quoted extension",
       chunked("2;a=\"\nGET / HTTP/1.1\"\r\n{}\r\n0\r\n\r\n"),
       {400},
       closes},
      {"a good request behind a bad chunk", chunked("x\r\n\r\n") + get(), {400}, closes},
  });
}

TEST(Conversation, Trailers) {
  const auto trailed = [](const std::string& lines) {
    return chunked(chunk(kDocument) + "0\r\n" + lines + "\r\n");
  };
  check({
      {"one", trailed("A: b\r\n"), {kEchoed}},
      {"framing fields change nothing",
       trailed("Content-Length: 5\r\nTransfer-Encoding: gzip\r\n") + get(),
       {kEchoed, kHello}},
      {"Connection: close changes nothing",
       trailed("Connection: close\r\nHost: @\r\n") + get(),
       {kEchoed, kHello}},
      {"no colon", trailed("A\r\n"), {400}, closes},
      {"no name", trailed(": a\r\n"), {400}, closes},
      {"space before the colon", trailed("A : b\r\n"), {400}, closes},
      {"fold", trailed("A: b\r\n c\r\n"), {400}, closes},
      {"leading white space", trailed(" A: b\r\n"), {400}, closes},
      {"NUL", trailed("A: \0\r\n"s), {400}, closes},
      {"bare CR", trailed("A: b\rc\r\n"), {400}, closes},
      {"bare LF", trailed("A: b\n"), {400}, closes},
      {"100 KB", trailed("A: " + std::string(100'000, 'b') + "\r\n"), {431}, closes},
  });
}

TEST(Conversation, ContentLengthWithTransferEncoding) {
  const auto both = [](const std::string& first, const std::string& second,
                       const std::string& line = "POST / HTTP/1.1") {
    return request(line, first + "\r\n" + second + "\r\n") + kLastChunk + get();
  };
  const std::string length = "Content-Length: 5";
  const std::string coding = "Transfer-Encoding: chunked";
  check({
      {"length first", both(length, coding), {400}, closes},
      {"coding first", both(coding, length), {400}, closes},
      {"length 0", both("Content-Length: 0", coding), {400}, closes},
      {"GET", both(length, coding, "GET / HTTP/1.1"), {400}, closes},
      {"HEAD", both(length, coding, "HEAD / HTTP/1.1"), {to_head(400)}, closes},
      {"OPTIONS", both(length, coding, "OPTIONS / HTTP/1.1"), {400}, closes},
      {"identity", both(length, "Transfer-Encoding: identity"), {400}, closes},
      {"empty coding", both(length, "Transfer-Encoding:"), {400}, closes},
      {"invalid length", both("Content-Length: x", coding), {400}, closes},
      {"doubled length", both(length + "\r\n" + length, coding), {400}, closes},
      {"large length", both("Content-Length: 99999999999", coding), {400}, closes},
      {"1.0", both(length, coding, "POST / HTTP/1.0"), {400}, closes},
      {"1.0, keep-alive",
       both(length + "\r\nConnection: keep-alive", coding, "POST / HTTP/1.0"),
       {400},
       closes},
  });
}

TEST(Conversation, MessageBoundaries) {
  const std::string with_body = "\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}";
  check({
      {"415, then another", post("x", "Content-Encoding: gzip\r\n") + get(), {415, kHello}},
      {"refused document, then another", post("[") + get(), {400, kHello}},
      {"refused document that looks like a request", post(get()) + get(), {400, kHello}},
      {"refused chunked document, then another", chunked(chunk("[") + kLastChunk) + get(), {400, kHello}},
      {"an octet behind empty content", post("") + "X" + get(), {400, 501}},
      {"two octets behind content", post(kDocument) + "{}" + get(), {kEchoed, 400}, closes},
      {"content of every method is read",
       "GET /" + (" HTTP/1.1" + with_body) + "HEAD /" + (" HTTP/1.1" + with_body) + "OPTIONS /" +
           (" HTTP/1.1" + with_body) + "TRACE /" + (" HTTP/1.1" + with_body) + "DELETE /" +
           (" HTTP/1.1" + with_body) + "BREW /" + (" HTTP/1.1" + with_body),
       {echoed(R"({"colors":null})"), to_head(200), 204, 405, echoed(R"({"colors":null})"), 501}},
      {"CONNECT too", "CONNECT h:1 HTTP/1.1" + with_body + get(), {405, kHello}},
      {"without a length there is no content", request("POST / HTTP/1.1") + kDocument, {400, 400}, closes},
      {"after a 400 nothing more", get(" \r\n") + get() + get(), {400}, closes},
      {"a smuggled request stays content", post("GET / HTTP/1.1\r\nHost: h\r\n\r\n") + get(), {400, kHello}},
  });
}

TEST(Conversation, HeadLimits) {
  RowChecker checker;
  const http::Limits limits;
  const auto head_of = [](std::size_t size) {
    const std::string rest = get("A: \r\n");
    return get("A: " + std::string(size - rest.size(), 'a') + "\r\n");
  };
  std::string fields;
  for (int i = 0; i < 10'000; ++i) fields += "X-" + std::to_string(i) + ": v\r\n";
  checker.check({
      {"8000 octets of request line", request("GET /" + std::string(8000, 'a') + " HTTP/1.1"), {kHello}},
      {"at the limit", head_of(limits.head_size_max), {kHello}},
      {"at the limit, then another", head_of(limits.head_size_max) + get(), {kHello, kHello}},
      {"one over", head_of(limits.head_size_max + 1), {431}, closes},
      {"behind another", get() + head_of(limits.head_size_max), {kHello, kHello}},
      {"behind another, one over", get() + head_of(limits.head_size_max + 1), {kHello, 431}, closes},
      {"a target of 100 KB", request("GET /" + std::string(100'000, 'a') + " HTTP/1.1"), {414}, closes},
      {"a target without an end", "GET /" + std::string(256 * 1024, 'a'), {414}, closes},
      {"a method of 100 KB", request(std::string(100'000, 'A') + " / HTTP/1.1"), {400}, closes},
      {"a field of 100 KB", get("A: " + std::string(100'000, 'a') + "\r\n"), {431}, closes},
      {"a field name of 100 KB", get(std::string(100'000, 'a') + ": b\r\n"), {431}, closes},
      {"10000 fields", get(fields), {431}, closes},
      {"fields without an end", "GET / HTTP/1.1\r\n" + fields, {431}, closes},
      {"256 KB of zeros as a chunk size", chunked(std::string(256 * 1024, '0')), {400}, closes},
      {"64 KiB in one extension",
       chunked("2;a=" + std::string(64 * 1024, 'b') + "\r\n{}\r\n0\r\n\r\n"),
       {400},
       closes},
      {"90 KB of extensions",
       chunked([] {
         std::string chunks;
         for (int i = 0; i < 900; ++i) chunks += "1;" + std::string(100, 'a') + "\r\n \r\n";
         return chunks + "2\r\n{}\r\n" + kLastChunk;
       }()),
       {400},
       closes},
  });
}

TEST(Conversation, ContentLimits) {
  const http::Limits limits;
  const std::string largest = document_of(limits.body_size_max);
  check({
      {"at the limit", post(largest) + get(), {echoed(largest), kHello}},
      {"one over", post(largest + " "), {413}, closes},
      {"one over, head alone", request("POST / HTTP/1.1", "Content-Length: 1048577\r\n"), {413}, closes},
      {"999999999, GET", request("GET / HTTP/1.1", "Content-Length: 999999999\r\n"), {413}, closes},
      {"999999999, HEAD",
       request("HEAD / HTTP/1.1", "Content-Length: 999999999\r\n"),
       {to_head(413)},
       closes},
      {"999999999, unknown method",
       request("BREW / HTTP/1.1", "Content-Length: 999999999\r\n"),
       {413},
       closes},
      {"2^40", request("POST / HTTP/1.1", "Content-Length: 1099511627776\r\n") + "{", {413}, closes},
      {"one chunk at the limit", chunked(chunk(largest) + kLastChunk) + get(), {echoed(largest), kHello}},
      {"one chunk one over", chunked("100001\r\n"), {413}, closes},
      {"two chunks at the limit",
       chunked(chunk(largest.substr(0, 1000)) + chunk(largest.substr(1000)) + kLastChunk),
       {echoed(largest)}},
      {"two chunks one over", chunked(chunk(largest) + "1\r\n"), {413}, closes},
  });
}

TEST(Conversation, SmallLimits) {
  http::Limits limits;
  limits.head_size_max = 128;
  limits.body_size_max = 64;
  limits.field_count_max = 4;
  RowChecker checker(limits);
  const std::string largest = document_of(64);
  checker.check({
      {"content at the limit", post(largest), {echoed(largest)}},
      {"content one over", post(largest + " "), {413}, closes},
      {"many small chunks at the limit",
       chunked([&] {
         std::string chunks;
         for (const char octet : largest) chunks += chunk(std::string(1, octet));
         return chunks + kLastChunk;
       }()),
       {echoed(largest)}},
      {"many small chunks one over",
       chunked([&] {
         std::string chunks;
         for (const char octet : largest) chunks += chunk(std::string(1, octet));
         return chunks + "1\r\n";
       }()),
       {413},
       closes},
      {"chunked octets beyond head and body limit",
       chunked([&] {
         std::string chunks;
         for (int i = 0; i < 62; ++i) chunks += "1;abcdefgh\r\n \r\n";
         return chunks + chunk("{}") + kLastChunk;
       }()),
       {echoed(R"({"colors":null})")}},
      {"four fields", get("A: b\r\nC: d\r\nE: f\r\n"), {kHello}},
      {"five fields", get("A: b\r\nC: d\r\nE: f\r\nG: h\r\n"), {431}, closes},
      {"pipelined heads each have their own limit",
       get("A: " + std::string(80, 'a') + "\r\n") + get("A: " + std::string(80, 'a') + "\r\n"),
       {kHello, kHello}},
  });
}

}  // namespace
}  // namespace rest_echo::echo
