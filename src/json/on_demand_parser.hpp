#pragma once

#include <simdjson.h>

#include <cstddef>
#include <string_view>

#include "rest_echo/bytes/padding.hpp"

namespace rest_echo::json {

static_assert(kPaddingSize >= simdjson::SIMDJSON_PADDING);

/// simdjson's On-Demand parser with storage that grows by doubling and can be given back.
class OnDemandParser {
 public:
  explicit OnDemandParser(std::size_t text_size_expected);

  /// Indexes `text`, which is followed by kPaddingSize octets. False: it is no JSON text.
  [[nodiscard]] bool open(std::string_view text, simdjson::ondemand::document& document);

  [[nodiscard]] bool storage_is_large() const noexcept { return parser_.capacity() > text_size_expected_; }
  void release_spare();

 private:
  /// False without memory; the next text asks again.
  bool set_capacity(std::size_t text_size);

  simdjson::ondemand::parser parser_;
  std::size_t text_size_expected_;
};

/// `text` from `token` on, without white space at its end: for a text that is one scalar, all of it.
[[nodiscard]] std::string_view root_scalar(std::string_view text, simdjson::ondemand::document& document);

/// True when nothing follows the array or object that was read.
[[nodiscard]] inline bool is_at_end(simdjson::ondemand::document& document) noexcept {
  return document.current_location().error() == simdjson::OUT_OF_BOUNDS;
}

/// The first octet of a value's token. Stage 1 has checked that it lies in the text.
[[nodiscard]] inline const char* token_of(simdjson::ondemand::value& value) noexcept {
  return value.raw_json_token().data();
}

}  // namespace rest_echo::json
