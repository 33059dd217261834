#include "rest_echo/json/library.hpp"

#include <simdjson.h>

namespace rest_echo::json {

std::string describe_library() {
  // The library chooses its kernel when it is first used.
  [[maybe_unused]] const bool is_chosen = simdjson::validate_utf8("", 0);
  return "simdjson " + std::to_string(simdjson::SIMDJSON_VERSION_MAJOR) + "." +
         std::to_string(simdjson::SIMDJSON_VERSION_MINOR) + "." +
         std::to_string(simdjson::SIMDJSON_VERSION_REVISION) + " (" +
         simdjson::get_active_implementation()->name() + ")";
}

}  // namespace rest_echo::json
