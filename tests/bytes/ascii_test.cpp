#include "rest_echo/bytes/ascii.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <string>

#include "rest_echo/bytes/octet_set.hpp"

namespace rest_echo {
namespace {

TEST(Ascii, OnlyCapitalLettersHaveALowerCase) {
  for (int value = 0; value < 256; ++value) {
    const char octet = static_cast<char>(value);
    const bool is_capital = value >= 'A' && value <= 'Z';
    EXPECT_EQ(to_ascii_lower(octet), is_capital ? static_cast<char>(value + 32) : octet) << value;
  }
}

TEST(Ascii, ComparesWithoutCaseAndWithoutOtherFolding) {
  EXPECT_TRUE(equals_ignoring_ascii_case("ChUnKeD", "chunked"));
  EXPECT_TRUE(equals_ignoring_ascii_case("", ""));
  EXPECT_FALSE(equals_ignoring_ascii_case("chunke", "chunked"));
  EXPECT_FALSE(equals_ignoring_ascii_case("chunkedd", "chunked"));
  EXPECT_FALSE(equals_ignoring_ascii_case("@[", "`{"));                   // 32 apart, but no letters
  EXPECT_FALSE(equals_ignoring_ascii_case("\xe2\x84\xaa", "k"));          // KELVIN SIGN
  EXPECT_FALSE(equals_ignoring_ascii_case("keep\ralive", "keep-alive"));  // CR is 32 below hyphen
}

TEST(Ascii, HexDigitsOfEitherCase) {
  const std::string digits = "0123456789abcdef";
  for (int value = 0; value < 256; ++value) {
    const char lower =
        value >= 'A' && value <= 'F' ? static_cast<char>(value + 32) : static_cast<char>(value);
    const std::size_t digit = digits.find(lower);
    const int expected = digit == std::string::npos ? -1 : static_cast<int>(digit);
    EXPECT_EQ(hex_digit_value(static_cast<char>(value)), expected) << value;
    EXPECT_EQ(kHexDigits[static_cast<char>(value)], expected >= 0) << value;
  }
}

TEST(OctetSet, AddsAndTakesAway) {
  constexpr OctetSet set = OctetSet{}.with_range('a', 'e').with("x\xff").without("c");
  std::string members;
  for (int value = 0; value < 256; ++value) {
    if (set[static_cast<char>(value)]) members += static_cast<char>(value);
  }
  EXPECT_EQ(members, "abdex\xff");
  EXPECT_TRUE(OctetSet{}.with_range(0x80, 0xff)['\xff']);
}

}  // namespace
}  // namespace rest_echo
