#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace rest_echo::json {

/// The numbers of one `rgba`. Four live here, as nearly every colour has; a longer list lives in its Body's
/// pool.
struct Rgba {
  static constexpr std::size_t kInlineCount = 4;

  std::array<std::int64_t, kInlineCount> inline_numbers;  // the first `count` of them have a value
  std::uint32_t count = 0;
  std::uint32_t pool_offset = 0;  // of the first number, when count > kInlineCount
};

struct Code {
  Rgba rgba;
  std::string_view hex;
};

struct Color {
  std::string_view color;
  std::string_view category;
  std::string_view type;
  Code code;

  /// Not `= default`, with which `emplace_back()` would clear all of it first.
  Color() noexcept {}
};
static_assert(sizeof(Color) <= 104,
              "`{},` makes a Color: its size bounds what three octets of a peer can cost");

/// The typed document. Absent, empty and null strings are all empty, as are the lists of numbers; only
/// `colors` tells null from empty. Every string views storage of somebody else in which at least kPaddingSize
/// more octets may be read behind it. Storage is kept by `clear`, so a warm Body allocates nothing.
class Body {
 public:
  /// Keeps room for texts of `text_size_expected` octets when spare storage is released.
  explicit Body(std::size_t text_size_expected = 4096);

  /// False for `{"colors":null}`.
  [[nodiscard]] bool has_colors() const noexcept { return has_colors_; }
  [[nodiscard]] std::span<const Color> colors() const noexcept { return colors_; }
  [[nodiscard]] std::span<const std::int64_t> rgba(const Code& code) const noexcept;
  /// True when some string came from an escape, so that it may hold octets which need one again.
  [[nodiscard]] bool has_unescaped_strings() const noexcept { return has_unescaped_strings_; }

  /// Becomes nil, with room for all that a text of `text_size` octets can hold: references to colours stay
  /// valid until the next `clear`. Untouched room costs no memory.
  void clear(std::size_t text_size);
  void set_colors_nil() noexcept;
  void set_colors_empty() noexcept;
  Color& append_color() { return colors_.emplace_back(); }
  void append_number(Rgba& rgba, std::int64_t number) {
    if (rgba.count < Rgba::kInlineCount) {
      rgba.inline_numbers[rgba.count++] = number;
    } else {
      append_number_to_pool(rgba, number);
    }
  }
  void note_unescaped_string() noexcept { has_unescaped_strings_ = true; }

  [[nodiscard]] bool storage_is_large() const noexcept { return room_text_size_ > text_size_expected_; }
  /// Gives back what a large text took, and becomes nil; does nothing when nothing was grown.
  void release_spare() noexcept;

 private:
  void append_number_to_pool(Rgba& rgba, std::int64_t number);

  std::vector<Color> colors_;
  std::vector<std::int64_t> number_pool_;
  std::size_t text_size_expected_;
  std::size_t room_text_size_ = 0;  // colors_ has room for a text of this size
  bool has_colors_ = false;
  bool has_unescaped_strings_ = false;
};

}  // namespace rest_echo::json
