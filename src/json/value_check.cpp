#include "value_check.hpp"

#include "number_grammar.hpp"
#include "on_demand_parser.hpp"
#include "rest_echo/json/fault_locator.hpp"
#include "string_scan.hpp"

namespace rest_echo::json {
namespace {

namespace ondemand = simdjson::ondemand;

bool check_array(ondemand::value& value, std::size_t open_count) {
  ondemand::array elements;
  if (value.get_array().get(elements) != simdjson::SUCCESS) return false;
  for (simdjson::simdjson_result<ondemand::value> item : elements) {
    if (item.error() != simdjson::SUCCESS || !check_value(item.value_unsafe(), open_count)) return false;
  }
  return true;
}

bool check_object(ondemand::value& value, std::size_t open_count) {
  ondemand::object members;
  if (value.get_object().get(members) != simdjson::SUCCESS) return false;
  for (simdjson::simdjson_result<ondemand::field> item : members) {
    if (item.error() != simdjson::SUCCESS) return false;
    ondemand::field& member = item.value_unsafe();
    if (!check_key(member) || !check_value(member.value(), open_count)) return false;
  }
  return true;
}

bool check_string(ondemand::value& value, const char* token) {
  if (*find_quote_or_backslash(token + 1) == '"')
    return value.get_raw_json_string().error() == simdjson::SUCCESS;
  return value.get_string().error() == simdjson::SUCCESS;
}

bool check_number(const char* token) {
  const char* end = find_number_end(token);
  return end != nullptr && kAfterNumber[*end];
}

}  // namespace

bool check_value(ondemand::value& value, std::size_t open_count) {
  const char* token = token_of(value);
  switch (*token) {
    case '[': return open_count < kDepthMax && check_array(value, open_count + 1);
    case '{': return open_count < kDepthMax && check_object(value, open_count + 1);
    case '"': return check_string(value, token);
    case 't':
    case 'f': return value.get_bool().error() == simdjson::SUCCESS;
    case 'n': return value.is_null().error() == simdjson::SUCCESS;
    default: return check_number(token);
  }
}

bool check_key(ondemand::field& member) {
  if (*find_quote_or_backslash(member.key().raw()) == '"') return true;
  return member.unescaped_key().error() == simdjson::SUCCESS;
}

}  // namespace rest_echo::json
