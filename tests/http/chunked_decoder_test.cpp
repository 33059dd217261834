#include "rest_echo/http/chunked_decoder.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "rest_echo/http/field.hpp"
#include "support/request_text.hpp"

namespace rest_echo::http {
namespace {

using namespace std::string_literals;
using test::Cutting;

struct Row {
  std::string name;
  std::string wire;
  /// The content, and after ` + ` what lies behind the message; or `failed: ` and the fault; or `need more: `
  /// and the content so far.
  std::string expected;
};

void check(const std::vector<Row>& rows, const Limits& limits = {}) {
  for (const Row& row : rows) {
    test::for_each_cutting(row.wire.size(), [&](const Cutting& cutting) {
      const std::string told = test::decode_chunked(row.wire, cutting, limits);
      if (told != row.expected) {
        ADD_FAILURE() << row.name << ", " << test::describe(cutting) << "\nexpected: " << row.expected
                      << "\n    told: " << told.substr(0, 2000);
      }
    });
  }
}

const std::string kBadChunk = "failed: bad_chunk";
const std::string kBadTrailer = "failed: bad_trailer";
const std::string kLast = "0\r\n\r\n";

TEST(ChunkedDecoder, Sizes) {
  check({
      {"one", "3\r\nabc\r\n" + kLast, "abc"},
      {"with octets behind", "3\r\nabc\r\n" + kLast + "GET", "abc + GET"},
      {"two", "1\r\na\r\n2\r\nbc\r\n" + kLast, "abc"},
      {"lower case", "a\r\n0123456789\r\n" + kLast, "0123456789"},
      {"upper case", "A\r\n0123456789\r\n" + kLast, "0123456789"},
      {"two digits", "1b\r\n" + std::string(27, 'a') + "\r\n" + kLast, std::string(27, 'a')},
      {"leading zeros", "0003\r\nabc\r\n" + kLast, "abc"},
      {"a hundred leading zeros", std::string(100, '0') + "3\r\nabc\r\n" + kLast, "abc"},
      {"none", kLast, ""},
      {"none, octets behind", kLast + "G", " + G"},
      {"last of many zeros", "3\r\nabc\r\n00000\r\n\r\n", "abc"},
      {"any octets", "8\r\n\r\n0\r\n\r\n\0\r\n"s + kLast, "\r\n0\r\n\r\n\0"s},
      {"chunk in a chunk", "b\r\n3\r\nabc\r\n0\r\n\r\n" + kLast, "3\r\nabc\r\n0\r\n"},
      {"0x", "0x3\r\nabc\r\n" + kLast, kBadChunk},
      {"sign", "+3\r\nabc\r\n" + kLast, kBadChunk},
      {"minus", "-3\r\nabc\r\n" + kLast, kBadChunk},
      {"space before", " 3\r\nabc\r\n" + kLast, kBadChunk},
      {"tab before", "\t3\r\nabc\r\n" + kLast, kBadChunk},
      {"space behind", "3 \r\nabc\r\n" + kLast, kBadChunk},
      {"tab behind", "3\t\r\nabc\r\n" + kLast, kBadChunk},
      {"space inside", "1 1\r\n", kBadChunk},
      {"underscore", "1_1\r\n", kBadChunk},
      {"comma", "1,1\r\n", kBadChunk},
      {"fraction", "1.0\r\n", kBadChunk},
      {"NUL", "3\0\r\nabc\r\n"s + kLast, kBadChunk},
      {"none at all", "\r\nabc\r\n" + kLast, kBadChunk},
      {"only an extension", ";a\r\nabc\r\n" + kLast, kBadChunk},
      {"a letter", "g\r\n", kBadChunk},
      {"before 0", "/\r\n", kBadChunk},
      {"behind 9", ":\r\n", kBadChunk},
      {"before A", "@\r\n", kBadChunk},
      {"behind F", "G\r\n", kBadChunk},
      {"before a", "`\r\n", kBadChunk},
      {"16 digits", "ffffffffffffffff\r\n", "failed: content_too_large"},
      {"17 digits", "10000000000000003\r\n", kBadChunk},
      {"2^64 + 3", "0000010000000000000003\r\nabc\r\n" + kLast, kBadChunk},
      {"2^32 + 3", "100000003\r\nabc\r\n" + kLast, "failed: content_too_large"},
      {"content at the limit", "100000\r\n", "need more: "},
      {"content one over", "100001\r\n", "failed: content_too_large"},
      {"sum one over, without wrapping", "1\r\na\r\nffffffffffffffff\r\n", "failed: content_too_large"},
  });
}

TEST(ChunkedDecoder, LineEnds) {
  check({
      {"size, bare LF", "3\nabc\r\n" + kLast, kBadChunk},
      {"size, bare CR", "3\rabc\r\n" + kLast, kBadChunk},
      {"size, CR CR LF", "3\r\r\nabc\r\n" + kLast, kBadChunk},
      {"data, bare LF", "3\r\nabc\n" + kLast, kBadChunk},
      {"data, bare CR", "3\r\nabc\r" + kLast, kBadChunk},
      {"data, CR CR LF", "3\r\nabc\r\r\n" + kLast, kBadChunk},
      {"data, nothing", "3\r\nabc" + kLast, kBadChunk},
      {"data, two other octets", "3\r\nabcxx" + kLast, kBadChunk},
      {"data too short", "4\r\nabc\r\n" + kLast, kBadChunk},
      {"data too long", "2\r\nabc\r\n" + kLast, kBadChunk},
      {"last, bare LF", "0\n\r\n", kBadChunk},
      {"last, LF LF", "0\n\n", kBadChunk},
      {"final, bare LF", "0\r\n\n", kBadTrailer},
      {"final, bare CR", "0\r\n\rG", kBadTrailer},
      {"final, CR CR LF", "0\r\n\r\r\n", kBadTrailer},
      {"extension, bare LF", "3;a\nabc\r\n" + kLast, kBadChunk},
      {"extension, bare CR", "3;a\rabc\r\n" + kLast, kBadChunk},
  });
}

TEST(ChunkedDecoder, Incomplete) {
  const std::string whole = "2;a=\"b\\c\" ; d = e\r\nab\r\n3\r\ncde\r\n0\r\nF: g\r\n\r\n";
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const std::string wire = whole.substr(0, size);
    EXPECT_TRUE(test::decode_chunked(wire, {size}, {}).starts_with("need more: ")) << wire;
    EXPECT_TRUE(test::decode_chunked(wire, test::pieces_of(1, size), {}).starts_with("need more: ")) << wire;
  }
  check({{"whole", whole, "abcde"},
         {"no last chunk", "2\r\nab\r\n", "need more: ab"},
         {"no final line end", "2\r\nab\r\n0\r\n", "need more: ab"},
         {"half the data", "4\r\nab", "need more: ab"}});
}

TEST(ChunkedDecoder, Extensions) {
  const auto extended = [](const std::string& extension) {
    return "3" + extension + "\r\nabc\r\n0" + extension + "\r\n\r\n";
  };
  const std::string good[] = {
      ";a",
      ";a=b",
      ";a=\"b\"",
      ";a=\"\"",
      ";a;b=c;d",
      " ;a",
      "\t; a",
      ";a =b",
      ";a= b",
      ";a\t=\tb",
      "; a = \"b c\"",
      ";a ;b",
      ";a=b ;c",
      ";a=\"b\" ;c",
      ";a=\"b\";c",
      ";a=\"\\\"\"",
      ";a=\"\\\\\"",
      ";a=\"\\\t\"",
      ";a=\"\t !~\"",
      ";a=\"\x80\xff\"",
      ";a=\"\\\xff\"",
      ";a=\";=,\"",
      ";!#$%&'*+-.^_`|~=!#$%&'*+-.^_`|~",
      ";a=0",
      ";0",
  };
  const std::string bad[] = {
      ";",
      ";=",
      ";=b",
      ";a=",
      ";;a",
      ";a;",
      ";a;;b",
      " ",
      " a",
      "a b",
      "=a",
      ";a=;b",
      ";a==b",
      ";a=b=c",
      ";a ",
      ";a=b ",
      ";a=\"b\" ",
      ";a b",
      ";a=b c",
      ";a=\"",
      ";a=\"b",
      ";a=\"b\\",
      ";a=\"b\\\"",
      ";a=\"b\"c",
      ";a=\"b\"\"c\"",
      ";a=b\"c\"",
      ";a\"b\"",
      ";a,b",
      ";a:b",
      ";(a)",
      ";a=(b)",
      ";a=b/c",
      ";[a]",
      ";\x80",
      ";a=\x80",
      ";a=\xff",
      ";a\0"s,
      ";a=\0"s,
      ";a=b\0"s,
      ";a=\"\0\""s,
      ";a=\"\\\0\""s,
      ";a=\"\x7f\"",
      ";a=\"\\\x7f\"",
      ";a=\"\x01\"",
      ";a=\"\\\x01\"",
      ";a=\"\n\"",
      ";a=\"\r\n\"",
      ";a=\"\\\r\n\"",
      ";a\v",
      ";a\f=b",
      ",a",
      "\v;a",
      ";\v",
      ";a=\v",
  };
  for (const std::string& extension : good) check({{extension, extended(extension), "abc"}});
  for (const std::string& extension : bad) check({{extension, extended(extension), kBadChunk}});
}

TEST(ChunkedDecoder, EveryOctetOfExtensions) {
  for (int value = 0; value < 256; ++value) {
    const char octet = static_cast<char>(value);
    const std::string name = "octet " + std::to_string(value);
    const bool is_text = value == '\t' || (value >= ' ' && value != 0x7f);
    check({
        {name + " in a name", "1;a"s + octet + "b=c\r\nx\r\n" + kLast,
         kTokenOctet[octet] || octet == ';' ? "x" : kBadChunk},
        {name + " in a value", "1;a=b"s + octet + ";c\r\nx\r\n" + kLast,
         kTokenOctet[octet] || is_ows(octet) ? "x" : kBadChunk},
        {name + " in a quoted string", "1;a=\""s + octet + "b\"\r\nx\r\n" + kLast,
         is_text && octet != '"' ? "x" : kBadChunk},
        {name + " behind a backslash", "1;a=\"\\"s + octet + "\"\r\nx\r\n" + kLast,
         is_text ? "x" : kBadChunk},
    });
  }
}

TEST(ChunkedDecoder, Trailers) {
  const auto trailed = [](const std::string& lines) { return "1\r\nx\r\n0\r\n" + lines + "\r\n"; };
  check({
      {"one", trailed("A: b\r\n"), "x"},
      {"two", trailed("A: b\r\nC:\r\n"), "x"},
      {"octets behind", trailed("A: b\r\n") + "G", "x + G"},
      {"framing fields change nothing", trailed("Content-Length: 9\r\nTransfer-Encoding: gzip\r\n"), "x"},
      {"others neither", trailed("Host: @\r\nContent-Type: a\r\nConnection: close\r\n"), "x"},
      {"tab and octets above 7f", trailed("A: \t\x80\xff\r\n"), "x"},
      {"no colon", trailed("A\r\n"), kBadTrailer},
      {"no name", trailed(": b\r\n"), kBadTrailer},
      {"space before the colon", trailed("A : b\r\n"), kBadTrailer},
      {"fold", trailed("A: b\r\n c\r\n"), kBadTrailer},
      {"white space first", trailed(" A: b\r\n"), kBadTrailer},
      {"tab first", trailed("\tA: b\r\n"), kBadTrailer},
      {"NUL in the value", trailed("A: b\0\r\n"s), kBadTrailer},
      {"NUL in the name", trailed("A\0: b\r\n"s), kBadTrailer},
      {"DEL in the value", trailed("A: \x7f\r\n"), kBadTrailer},
      {"bare CR", trailed("A: b\rC: d\r\n"), kBadTrailer},
      {"bare LF", trailed("A: b\n"), kBadTrailer},
      {"CR CR LF", trailed("A: b\r\r\n"), kBadTrailer},
      {"a name with octets above 7f", trailed("\xc3\xa9: b\r\n"), kBadTrailer},
  });
}

TEST(ChunkedDecoder, EveryOctetOfTrailers) {
  for (int value = 0; value < 256; ++value) {
    const char octet = static_cast<char>(value);
    const std::string name = "octet " + std::to_string(value);
    const bool is_text = value == '\t' || (value >= ' ' && value != 0x7f);
    check({{name + " in a name", "0\r\nA"s + octet + "B: c\r\n\r\n",
            kTokenOctet[octet] || octet == ':' ? "" : kBadTrailer},
           {name + " in a value", "0\r\nA: "s + octet + "b\r\n\r\n", is_text ? "" : kBadTrailer}});
  }
}

TEST(ChunkedDecoder, Limits) {
  Limits limits;
  limits.body_size_max = 8;
  limits.chunk_line_size_max = 12;
  limits.chunk_extensions_size_max = 20;
  limits.trailer_section_size_max = 16;
  const std::string extended = "1;abcdefgh\r\nx\r\n";  // nine octets, CR included
  check(
      {
          {"content at the limit", "4\r\nabcd\r\n4\r\nefgh\r\n" + kLast, "abcdefgh"},
          {"content one over", "4\r\nabcd\r\n5\r\n", "failed: content_too_large"},
          {"line at the limit", "00000000001\r\nx\r\n" + kLast, "x"},
          {"line one over", "000000000001\r\nx\r\n" + kLast, kBadChunk},
          {"line with extension at the limit", "1;abcdefghi\r\nx\r\n" + kLast, "x"},
          {"line with extension one over", "1;abcdefghij\r\nx\r\n" + kLast, kBadChunk},
          {"size without an end", std::string(100, '0'), kBadChunk},
          {"extension without an end", "1;" + std::string(100, 'a'), kBadChunk},
          {"each line counts anew", "0000000001\r\nx\r\n0000000001\r\ny\r\n" + kLast, "xy"},
          {"extensions within the limit", extended + extended + kLast, "xx"},
          {"extensions over", extended + extended + extended + kLast, "failed: chunk_extensions_too_large"},
          {"trailers at the limit, the last CR included", "0\r\nA: 23456789ab\r\n\r\n", ""},
          {"trailers one over", "0\r\nA: 23456789abc\r\n\r\n", "failed: trailer_section_too_large"},
          {"trailers without an end", "0\r\n" + std::string(100, 'a'), "failed: trailer_section_too_large"},
          {"many trailers", "0\r\nA:b\r\nC:d\r\nE:f\r\nG:h\r\n\r\n", "failed: trailer_section_too_large"},
      },
      limits);
}

// Zeros that no size needs are as idle as extensions, and bounded with them.
TEST(ChunkedDecoder, NeedlessZerosCountAsExtensions) {
  Limits limits;
  limits.chunk_extensions_size_max = 20;
  const std::string padded = std::string(25, '0') + "1\r\nx\r\n";  // ten more digits than a size can need
  const std::string at_most = std::string(15, '0') + "1\r\nx\r\n";
  check(
      {
          {"at the limit", padded + padded + kLast, "xx"},
          {"over", padded + padded + std::string(17, '0'), "failed: chunk_extensions_too_large"},
          {"with an extension", padded + "1;abcdefghi\r\nx\r\n" + kLast, "xx"},
          {"with an extension, over", padded + "1;abcdefghij\r\nx\r\n", "failed: chunk_extensions_too_large"},
          {"sixteen digits are none too many", at_most + at_most + at_most + kLast, "xxx"},
      },
      limits);
}

TEST(ChunkedDecoder, WritesBeforeWhereItReads) {
  std::string octets = "....3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
  ChunkedDecoder decoder;
  const std::span<const char> received = std::span<const char>(octets).subspan(4);
  const ChunkedDecoder::Progress progress = decoder.decode(received, octets.data(), Limits{});
  EXPECT_EQ(progress.outcome, ChunkedDecoder::Outcome::complete);
  EXPECT_EQ(progress.consumed_size, received.size());
  EXPECT_EQ(octets.substr(0, progress.content_size), "abcde");
}

TEST(ChunkedDecoder, DecodesWhatWasEncoded) {
  test::Random random(7);
  for (int run = 0; run < 300; ++run) {
    std::string content;
    std::string wire;
    for (std::size_t count = random.below(12); count > 0; --count) {
      std::string chunk(1 + random.below(std::size_t{1} << random.below(12)), '\0');
      for (char& octet : chunk) octet = static_cast<char>(random.below(256));
      char size[32];
      std::snprintf(size, sizeof size, random.below(2) == 0 ? "%zx" : "00%zX", chunk.size());
      wire.append(size).append(random.below(3) == 0 ? ";a=\"b\"\r\n" : "\r\n").append(chunk).append("\r\n");
      content += chunk;
    }
    wire += random.below(2) == 0 ? kLast : "000\r\nA: b\r\n\r\n";
    for (int i = 0; i < 5; ++i) {
      const Cutting cutting = test::random_cutting(wire.size(), 1 + random.below(40), random);
      ASSERT_EQ(test::decode_chunked(wire, cutting, {}), content) << "run " << run;
    }
  }
}

}  // namespace
}  // namespace rest_echo::http
