#include "on_demand_parser.hpp"

#include <bit>

namespace rest_echo::json {
namespace {

/// simdjson's own checks in unoptimised builds want more levels than kDepthMax.
constexpr std::size_t kParserDepth = 2048;

}  // namespace

OnDemandParser::OnDemandParser(std::size_t text_size_expected)
    : text_size_expected_(std::bit_ceil(text_size_expected)) {
  set_capacity(text_size_expected_);
}

bool OnDemandParser::open(std::string_view text, simdjson::ondemand::document& document) {
  if (text.starts_with("\xEF\xBB\xBF")) return false;  // newer versions of simdjson skip a byte order mark
  if (text.size() > parser_.capacity() && !set_capacity(std::bit_ceil(text.size()))) return false;
  return parser_.iterate(text.data(), text.size(), text.size() + kPaddingSize).get(document) ==
         simdjson::SUCCESS;
}

void OnDemandParser::release_spare() {
  if (storage_is_large()) set_capacity(text_size_expected_);
}

bool OnDemandParser::set_capacity(std::size_t text_size) {
  return parser_.allocate(text_size, kParserDepth) == simdjson::SUCCESS;
}

std::string_view root_scalar(std::string_view text, simdjson::ondemand::document& document) {
  std::string_view token;
  if (document.raw_json_token().get(token) != simdjson::SUCCESS) return {};
  const std::string_view scalar = text.substr(static_cast<std::size_t>(token.data() - text.data()));
  return scalar.substr(0, scalar.find_last_not_of(" \t\n\r") + 1);
}

}  // namespace rest_echo::json
