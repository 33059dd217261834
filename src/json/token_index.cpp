#include "token_index.hpp"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <new>

namespace rest_echo::json {
namespace {

static_assert(kPaddingSize >= simdjson::SIMDJSON_PADDING);

/// Of stage 2, which is not used.
constexpr std::size_t kDepth = 1;

const std::uint8_t* as_octets(const char* text) { return reinterpret_cast<const std::uint8_t*>(text); }

/// simdjson's unescaping, which has got another parameter in later versions: whether a lone surrogate is
/// replaced.
template <typename Implementation>
std::uint8_t* unescape_string(const Implementation& implementation, const char* content, char* out) {
  auto* to = reinterpret_cast<std::uint8_t*>(out);
  if constexpr (requires { implementation.parse_string(as_octets(content), to, false); }) {
    return implementation.parse_string(as_octets(content), to, false);
  } else {
    return implementation.parse_string(as_octets(content), to);
  }
}

}  // namespace

TokenIndex::TokenIndex(std::size_t text_size_expected)
    : text_size_expected_(std::bit_ceil(text_size_expected)) {
  set_capacity(text_size_expected_);
}

TokenIndex::~TokenIndex() = default;

bool TokenIndex::build(std::string_view text) {
  if (capacity_ == 0 || text.size() > capacity_)
    set_capacity(std::max(std::bit_ceil(text.size()), text_size_expected_));
  text_ = text;
  unescaped_end_ = unescaped_.get();
  if (stage1_->stage1(as_octets(text.data()), text.size(), simdjson::stage1_mode::regular) !=
      simdjson::SUCCESS)
    return false;
  std::uint32_t* offsets = stage1_->structural_indexes.get();
  count_ = stage1_->n_structural_indexes;
  offsets[count_] = offsets[0];  // there is room: simdjson writes the size of the text there
  offsets_ = offsets;
  return true;
}

bool TokenIndex::is_between(char open, char close) const noexcept {
  return text_[offsets_[0]] == open && text_[offsets_[count_ - 1]] == close;
}

std::optional<std::string_view> TokenIndex::unescape(const char* content) noexcept {
  const char* start = unescaped_end_;
  auto* end = reinterpret_cast<char*>(unescape_string(*stage1_, content, unescaped_end_));
  if (end == nullptr) return std::nullopt;
  unescaped_end_ = end;
  return std::string_view(start, end);
}

void TokenIndex::release_spare() noexcept {
  if (!storage_is_large()) return;
  capacity_ = 0;  // the next text takes what it needs
  stage1_.reset();
  unescaped_.reset();
}

void TokenIndex::set_capacity(std::size_t text_size) {
  capacity_ = 0;  // until all is there
  unescaped_.reset();
  const simdjson::error_code error =
      stage1_ ? stage1_->allocate(text_size, kDepth)
              : simdjson::get_active_implementation()->create_dom_parser_implementation(text_size, kDepth,
                                                                                        stage1_);
  if (error != simdjson::SUCCESS) throw std::bad_alloc();
  // Strings get no longer without their escapes, and are stored in blocks, one behind the other.
  unescaped_ = std::make_unique_for_overwrite<char[]>(text_size + 2 * kPaddingSize);
  capacity_ = text_size;
}

}  // namespace rest_echo::json
