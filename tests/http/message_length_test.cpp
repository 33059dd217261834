#include "rest_echo/http/message_length.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/request_text.hpp"

namespace rest_echo::http {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kBodySizeMax = 1000;

/// Field lines in order: `=` and a Content-Length, `~` and a Transfer-Encoding. Told as `none`, `chunked`,
/// `length N` or the fault.
std::string decide(const std::vector<std::string_view>& lines, bool is_http_1_0 = false) {
  MessageLength length;
  for (const std::string_view line : lines) {
    if (line.front() == '=') {
      const RequestFault fault = length.accept_content_length(line.substr(1));
      if (fault != RequestFault::none) return std::string(test::name_of(fault));
    } else {
      length.accept_transfer_encoding(line.substr(1));
    }
  }
  const RequestFault fault = length.decide(is_http_1_0, kBodySizeMax);
  if (fault != RequestFault::none) return std::string(test::name_of(fault));
  switch (length.framing()) {
    case Framing::none: return "none";
    case Framing::content_length: return "length " + std::to_string(length.content_length());
    case Framing::chunked: return "chunked";
  }
  return "?";
}

TEST(MessageLength, Decides) {
  struct Row {
    std::vector<std::string_view> lines;
    std::string_view expected;
  };
  const Row rows[] = {
      {{}, "none"},
      {{"=0"}, "length 0"},
      {{"=13"}, "length 13"},
      {{"=999"}, "length 999"},
      {{"=1000"}, "length 1000"},
      {{"=1001"}, "content_too_large"},
      {{"=00000000000000000000000000000000000000000013"}, "length 13"},
      {{"=010"}, "length 10"},
      {{"=4294967309"}, "content_too_large"},            // 2^32 + 13
      {{"=18446744073709551615"}, "content_too_large"},  // 2^64 - 1
      {{"=18446744073709551616"}, "bad_content_length"},
      {{"=18446744073709551629"}, "bad_content_length"},  // 2^64 + 13
      {{"=184467440737095516160"}, "bad_content_length"},
      {{"=99999999999999999999999999999999999999"}, "bad_content_length"},
      {{"="}, "bad_content_length"},
      {{"=-0"}, "bad_content_length"},
      {{"=-1"}, "bad_content_length"},
      {{"=+13"}, "bad_content_length"},
      {{"=1 3"}, "bad_content_length"},
      {{"=1\t3"}, "bad_content_length"},
      {{"=0x13"}, "bad_content_length"},
      {{"=0o13"}, "bad_content_length"},
      {{"=1_3"}, "bad_content_length"},
      {{"=1e1"}, "bad_content_length"},
      {{"=13.0"}, "bad_content_length"},
      {{"=13;a=b"}, "bad_content_length"},
      {{"=\"13\""}, "bad_content_length"},
      {{"=13,"}, "bad_content_length"},
      {{"=13,13"}, "bad_content_length"},
      {{"=13, 14"}, "bad_content_length"},
      {{"=1\0003"sv}, "bad_content_length"},
      {{"=13\0"sv}, "bad_content_length"},
      {{"=\v13"}, "bad_content_length"},
      {{"=/"}, "bad_content_length"},
      {{"=:"}, "bad_content_length"},
      {{"=\xd9\xa1\xd9\xa3"}, "bad_content_length"},  // ARABIC-INDIC DIGITS
      {{"=\xb9"}, "bad_content_length"},
      {{"=13", "=13"}, "repeated_content_length"},
      {{"=13", "=14"}, "repeated_content_length"},
      {{"=0", "=0"}, "repeated_content_length"},
      {{"~chunked"}, "chunked"},
      {{"~Chunked"}, "chunked"},
      {{"~CHUNKED"}, "chunked"},
      {{"~,chunked"}, "chunked"},
      {{"~chunked ,\t, "}, "chunked"},
      {{"~", "~chunked"}, "chunked"},
      {{"~chunked", "~,"}, "chunked"},
      {{"~"}, "bad_transfer_encoding"},
      {{"~,"}, "bad_transfer_encoding"},
      {{"~ , ,"}, "bad_transfer_encoding"},
      {{"~chunked, chunked"}, "bad_transfer_encoding"},
      {{"~chunked", "~chunked"}, "bad_transfer_encoding"},
      {{"~chunked, gzip"}, "bad_transfer_encoding"},
      {{"~chunked", "~gzip"}, "bad_transfer_encoding"},
      {{"~chunked, identity"}, "bad_transfer_encoding"},
      {{"~gzip, chunked, gzip"}, "bad_transfer_encoding"},
      {{"~chunked, gzip, chunked"}, "bad_transfer_encoding"},
      {{"~chunked;q=1"}, "bad_transfer_encoding"},
      {{"~chunked;"}, "bad_transfer_encoding"},
      {{"~\"chunked\""}, "bad_transfer_encoding"},
      {{"~chunked chunked"}, "bad_transfer_encoding"},
      {{"~x chunked"}, "bad_transfer_encoding"},
      {{"~chunked\v"}, "bad_transfer_encoding"},
      {{"~\fchunked"}, "bad_transfer_encoding"},
      {{"~gzip;q=1, chunked"}, "bad_transfer_encoding"},
      {{"~gzip"}, "unknown_transfer_coding"},
      {{"~identity"}, "unknown_transfer_coding"},
      {{"~gzip, chunked"}, "unknown_transfer_coding"},
      {{"~gzip", "~chunked"}, "unknown_transfer_coding"},
      {{"~gzip, deflate"}, "unknown_transfer_coding"},
      {{"~identity, chunked"}, "unknown_transfer_coding"},
      {{"~chunke"}, "unknown_transfer_coding"},
      {{"~chunkedd"}, "unknown_transfer_coding"},
      {{"~xchunked"}, "unknown_transfer_coding"},
      {{"~chunked1"}, "unknown_transfer_coding"},
      {{"=13", "~chunked"}, "content_length_and_transfer_encoding"},
      {{"~chunked", "=13"}, "content_length_and_transfer_encoding"},
      {{"=0", "~chunked"}, "content_length_and_transfer_encoding"},
      {{"=13", "~"}, "content_length_and_transfer_encoding"},
      {{"=13", "~gzip"}, "content_length_and_transfer_encoding"},
      {{"=13", "~identity"}, "content_length_and_transfer_encoding"},
      {{"=9999", "~chunked"}, "content_length_and_transfer_encoding"},
      {{"~chunked", "=x"}, "bad_content_length"},
      {{"=13", "~chunked", "=13"}, "repeated_content_length"},
  };
  for (const Row& row : rows) {
    std::string name;
    for (const std::string_view line : row.lines) name.append(line).append(" | ");
    EXPECT_EQ(decide(row.lines), row.expected) << name;
  }
}

TEST(MessageLength, NeverTransferEncodingInHttp10) {
  EXPECT_EQ(decide({"~chunked"}, true), "transfer_encoding_in_http_1_0");
  EXPECT_EQ(decide({"~gzip"}, true), "transfer_encoding_in_http_1_0");
  EXPECT_EQ(decide({"~"}, true), "transfer_encoding_in_http_1_0");
  EXPECT_EQ(decide({"=13", "~chunked"}, true), "content_length_and_transfer_encoding");
  EXPECT_EQ(decide({"=13"}, true), "length 13");
  EXPECT_EQ(decide({}, true), "none");
}

TEST(MessageLength, EveryOctetButDigitsIsRefused) {
  for (int value = 0; value < 256; ++value) {
    const bool is_digit = value >= '0' && value <= '9';
    const std::string line = {'=', '1', static_cast<char>(value), '3'};
    EXPECT_EQ(decide({line}) == "bad_content_length", !is_digit) << value;
  }
}

}  // namespace
}  // namespace rest_echo::http
