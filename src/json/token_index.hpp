#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "rest_echo/bytes/padding.hpp"

namespace simdjson::internal {
class dom_parser_implementation;
}

namespace rest_echo::json {

/// A place among the tokens of a text. A value, as iterators are: who reads something takes one, and returns
/// the one behind what was read, or a null one if the text is refused.
class TokenCursor {
 public:
  TokenCursor() = default;
  TokenCursor(const char* text, const std::uint32_t* offsets) : text_(text), offsets_(offsets) {}

  /// The first octet of the next token.
  [[nodiscard]] const char* peek() const noexcept { return text_ + *offsets_; }
  /// The same, and moves behind it.
  const char* take() noexcept { return text_ + *offsets_++; }

  [[nodiscard]] explicit operator bool() const noexcept { return offsets_ != nullptr; }
  [[nodiscard]] bool operator==(const TokenCursor&) const = default;

 private:
  const char* text_ = nullptr;
  const std::uint32_t* offsets_ = nullptr;
};

/// Where the tokens of a text start: brackets, colons, commas, the opening quotes of strings, and the first
/// octets of all else that is not white space. This is stage 1 of simdjson, which also refuses ill-formed
/// UTF-8 (the fallback kernel only inside strings), control octets in strings and an unclosed string; nothing
/// else is checked.
class TokenIndex {
 public:
  /// Keeps storage for texts of `text_size_expected` octets; it doubles for longer ones.
  explicit TokenIndex(std::size_t text_size_expected);
  TokenIndex(const TokenIndex&) = delete;
  TokenIndex& operator=(const TokenIndex&) = delete;
  ~TokenIndex();

  /// Indexes `text`, which is followed by kPaddingSize octets. False: refused, or without a token. Throws
  /// std::bad_alloc.
  [[nodiscard]] bool build(std::string_view text);

  // All below only after a `build` that returned true.

  /// True if the first token of the text is `open` and its last one is `close`. Who reads such a text from
  /// `begin`, and expects a comma or a closing bracket behind each value, stays inside the index: the last
  /// token will do as a closing bracket only, and behind it stands `open` once more, which is neither.
  [[nodiscard]] bool is_between(char open, char close) const noexcept;
  [[nodiscard]] TokenCursor begin() const noexcept { return {text_.data(), offsets_}; }
  [[nodiscard]] TokenCursor end() const noexcept { return {text_.data(), offsets_ + count_}; }

  /// A string without its escapes; `content` follows its opening quote. Nothing: an escape is wrong. The
  /// outcome lives until the next `build` or `release_spare`, with kPaddingSize readable octets behind it. At
  /// most once for each string.
  [[nodiscard]] std::optional<std::string_view> unescape(const char* content) noexcept;

  [[nodiscard]] bool storage_is_large() const noexcept { return capacity_ > text_size_expected_; }
  /// Gives back what a large text took; does nothing when nothing was grown.
  void release_spare() noexcept;

 private:
  void set_capacity(std::size_t text_size);

  std::unique_ptr<simdjson::internal::dom_parser_implementation> stage1_;
  std::unique_ptr<char[]> unescaped_;
  char* unescaped_end_ = nullptr;
  std::string_view text_;
  const std::uint32_t* offsets_ = nullptr;
  std::size_t count_ = 0;
  std::size_t capacity_ = 0;
  std::size_t text_size_expected_;
};

}  // namespace rest_echo::json
