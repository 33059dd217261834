#include "rest_echo/json/body_writer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "rest_echo/bytes/padding.hpp"

namespace rest_echo::json {
namespace {

using namespace std::string_literals;

/// Views to the text of a literal with padding behind it.
template <std::size_t N>
struct PaddedLiteral {
  explicit PaddedLiteral(const char (&literal)[N]) { std::memcpy(octets, literal, N); }
  [[nodiscard]] std::string_view view() const { return {octets, N - 1}; }
  char octets[N + kPaddingSize] = {};
};

std::string write(const Body& body) {
  char out[4096];
  return std::string(out, write_body(body, out));
}

TEST(BodyWriter, WritesABodyMadeByHand) {
  const PaddedLiteral color("black");
  const PaddedLiteral hex("#000");
  Body body;
  body.clear(0);
  EXPECT_EQ(write(body), R"({"colors":null})");
  body.set_colors_empty();
  EXPECT_EQ(write(body), R"({"colors":[]})");
  Color& first = body.append_color();
  first.color = color.view();
  first.code.hex = hex.view();
  for (const std::int64_t number :
       {std::int64_t{1}, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min(),
        std::int64_t{0}, std::int64_t{256}}) {
    body.append_number(first.code.rgba, number);
  }
  EXPECT_EQ(
      write(body),
      R"({"colors":[{"color":"black","code":{"rgba":[1,9223372036854775807,-9223372036854775808,0,256],)"
      R"("hex":"#000"}}]})");
  body.clear(0);
  EXPECT_FALSE(body.has_colors());
  EXPECT_EQ(write(body), R"({"colors":null})");
}

TEST(BodyWriter, EscapesOnlyWhereAStringWasUnescaped) {
  const PaddedLiteral quote("a\"b");
  Body body;
  body.clear(0);
  body.set_colors_empty();
  body.append_color().type = quote.view();
  body.note_unescaped_string();
  EXPECT_EQ(write(body), R"({"colors":[{"type":"a\"b","code":{}}]})");
}

TEST(BodyWriter, WritesEveryComponent) {
  Body body;
  for (std::int64_t number = -300; number <= 1100; ++number) {
    body.clear(0);
    body.set_colors_empty();
    body.append_number(body.append_color().code.rgba, number);
    EXPECT_EQ(write(body), R"({"colors":[{"code":{"rgba":[)"s + std::to_string(number) + "]}}]}");
  }
}

}  // namespace
}  // namespace rest_echo::json
