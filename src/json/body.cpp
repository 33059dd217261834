#include "rest_echo/json/body.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace rest_echo::json {
namespace {

/// The most colours a text can hold: `{},` is the shortest.
std::size_t color_count_max(std::size_t text_size) { return text_size / 3 + 1; }

/// The most numbers a text can hold: `1,` is the shortest.
std::size_t number_count_max(std::size_t text_size) { return text_size / 2 + 1; }

}  // namespace

Body::Body(std::size_t text_size_expected) : text_size_expected_(std::bit_ceil(text_size_expected)) {}

std::span<const std::int64_t> Body::rgba(const Code& code) const noexcept {
  if (code.rgba.count <= Rgba::kInlineCount) return {code.rgba.inline_numbers.data(), code.rgba.count};
  return std::span(number_pool_).subspan(code.rgba.pool_offset, code.rgba.count);
}

void Body::clear(std::size_t text_size) {
  colors_.clear();
  number_pool_.clear();
  has_colors_ = false;
  has_unescaped_strings_ = false;
  if (text_size <= room_text_size_) return;
  const std::size_t room = std::max(std::bit_ceil(text_size), text_size_expected_);
  colors_.reserve(color_count_max(room));  // may throw
  room_text_size_ = room;
}

void Body::set_colors_nil() noexcept {
  colors_.clear();
  has_colors_ = false;
}

void Body::set_colors_empty() noexcept {
  colors_.clear();
  has_colors_ = true;
}

void Body::append_number_to_pool(Rgba& rgba, std::int64_t number) {
  if (rgba.count == Rgba::kInlineCount) {
    // Reserved at once, so that the pool is never copied; most texts never need it.
    number_pool_.reserve(number_count_max(room_text_size_));
    rgba.pool_offset = static_cast<std::uint32_t>(number_pool_.size());
    number_pool_.insert(number_pool_.end(), rgba.inline_numbers.begin(), rgba.inline_numbers.end());
  }
  assert(rgba.pool_offset + rgba.count == number_pool_.size());
  number_pool_.push_back(number);
  ++rgba.count;
}

void Body::release_spare() noexcept {
  if (!storage_is_large()) return;
  colors_ = std::vector<Color>();  // not `= {}`, which keeps the storage
  number_pool_ = std::vector<std::int64_t>();
  room_text_size_ = 0;
  has_colors_ = false;
  has_unescaped_strings_ = false;
}

}  // namespace rest_echo::json
