#include "rest_echo/json/body_writer.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <string_view>

#include "rest_echo/json/escape.hpp"
#include "string_scan.hpp"

namespace rest_echo::json {
namespace {

/// Copies a piece of syntax; its size is known, so this is a store or two.
template <std::size_t N>
char* put(const char (&piece)[N], char* out) noexcept {
  std::memcpy(out, piece, N - 1);
  return out + (N - 1);
}

struct SmallNumber {
  std::array<char, 3> digits;
  unsigned char size;
};

/// The text of each component that a colour usually has.
constexpr std::array<SmallNumber, 256> kSmallNumbers = [] {
  std::array<SmallNumber, 256> numbers{};
  for (unsigned number = 0; number < numbers.size(); ++number) {
    SmallNumber& text = numbers[number];
    if (number >= 100) text.digits[text.size++] = static_cast<char>('0' + number / 100);
    if (number >= 10) text.digits[text.size++] = static_cast<char>('0' + number / 10 % 10);
    text.digits[text.size++] = static_cast<char>('0' + number % 10);
  }
  return numbers;
}();
static_assert(kSmallNumbers[0].size == 1 && kSmallNumbers[99].size == 2 &&
              kSmallNumbers[255].digits[2] == '5');

char* write_number(std::int64_t number, char* out) noexcept {
  if (number >= 0 && number < static_cast<std::int64_t>(kSmallNumbers.size())) {
    const SmallNumber& text = kSmallNumbers[static_cast<std::size_t>(number)];
    std::memcpy(out, text.digits.data(), text.digits.size());
    return out + text.size;
  }
  constexpr std::size_t kInt64SizeMax = 20;
  return std::to_chars(out, out + kInt64SizeMax, number).ptr;
}

/// Strings that need no escape are copied without a look at them.
template <bool kMayNeedEscape>
char* write_string(std::string_view string, char* out) noexcept {
  if constexpr (kMayNeedEscape) {
    return write_escaped(string, out);
  } else {
    return copy_blocks(string, out);
  }
}

char* write_rgba(std::span<const std::int64_t> numbers, char* out) noexcept {
  out = put(R"("rgba":[)", out);
  for (const std::int64_t number : numbers) {
    out = write_number(number, out);
    *out++ = ',';
  }
  out[-1] = ']';
  return out;
}

template <bool kMayNeedEscape>
char* write_color(const Body& body, const Color& color, char* out) noexcept {
  *out++ = '{';
  if (!color.color.empty()) {
    out = put(R"("color":")", out);
    out = write_string<kMayNeedEscape>(color.color, out);
    out = put(R"(",)", out);
  }
  if (!color.category.empty()) {
    out = put(R"("category":")", out);
    out = write_string<kMayNeedEscape>(color.category, out);
    out = put(R"(",)", out);
  }
  if (!color.type.empty()) {
    out = put(R"("type":")", out);
    out = write_string<kMayNeedEscape>(color.type, out);
    out = put(R"(",)", out);
  }
  out = put(R"("code":{)", out);
  const bool has_rgba = color.code.rgba.count != 0;
  if (has_rgba) out = write_rgba(body.rgba(color.code), out);
  if (!color.code.hex.empty()) {
    if (has_rgba) *out++ = ',';
    out = put(R"("hex":")", out);
    out = write_string<kMayNeedEscape>(color.code.hex, out);
    *out++ = '"';
  }
  return put("}}", out);
}

template <bool kMayNeedEscape>
char* write_colors(const Body& body, char* out) noexcept {
  for (const Color& color : body.colors()) {
    out = write_color<kMayNeedEscape>(body, color, out);
    *out++ = ',';
  }
  return body.colors().empty() ? out : out - 1;
}

}  // namespace

char* write_body(const Body& body, char* out) noexcept {
  if (!body.has_colors()) return put(R"({"colors":null})", out);
  out = put(R"({"colors":[)", out);
  out = body.has_unescaped_strings() ? write_colors<true>(body, out) : write_colors<false>(body, out);
  return put("]}", out);
}

}  // namespace rest_echo::json
