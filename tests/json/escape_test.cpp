#include "rest_echo/json/escape.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rest_echo::json {
namespace {

std::string escape(const std::string& text) {
  std::string padded = text + std::string(32, '"');
  std::vector<char> out(text.size() * kEscapeSizeMax + 32);
  return std::string(out.data(), write_escaped({padded.data(), text.size()}, out.data()));
}

TEST(Escape, WritesTheShortestForm) {
  EXPECT_EQ(escape(""), "");
  EXPECT_EQ(escape("\"\\\b\t\n\f\r"), R"(\"\\\b\t\n\f\r)");
  EXPECT_EQ(escape(std::string("\0\x01\x0B\x0E\x0F\x10\x1F", 7)),
            R"(\u0000\u0001\u000b\u000e\u000f\u0010\u001f)");
}

TEST(Escape, KeepsEveryOtherOctet) {
  for (int octet = 0x20; octet <= 0xFF; ++octet) {
    if (octet == '"' || octet == '\\') continue;
    const std::string text(1, static_cast<char>(octet));
    EXPECT_EQ(escape(text), text) << octet;
  }
}

TEST(Escape, FindsAnOctetAtEveryPlace) {
  for (std::size_t size = 1; size <= 50; ++size) {
    EXPECT_EQ(escape(std::string(size, '\\')), [&] {
      std::string expected;
      for (std::size_t i = 0; i < size; ++i) expected += "\\\\";
      return expected;
    }());
    for (std::size_t offset = 0; offset < size; ++offset) {
      std::string text(size, 'x');
      text[offset] = '\n';
      EXPECT_EQ(escape(text), std::string(offset, 'x') + "\\n" + std::string(size - offset - 1, 'x'));
    }
  }
}

}  // namespace
}  // namespace rest_echo::json
