#pragma once

#include <simdjson.h>

#include <cstddef>

namespace rest_echo::json {

/// Visits all of a value whose content does not matter. `open_count` arrays and objects are open around it.
/// False: it is malformed, or too deep.
[[nodiscard]] bool check_value(simdjson::ondemand::value& value, std::size_t open_count);

/// Visits a key; simdjson looks into keys only when they are unescaped.
[[nodiscard]] bool check_key(simdjson::ondemand::field& member);

}  // namespace rest_echo::json
