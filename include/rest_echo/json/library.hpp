#pragma once

#include <string>

namespace rest_echo::json {

/// The JSON library and the kernel that it chose for this CPU, such as `simdjson 3.0.1 (haswell)`.
[[nodiscard]] std::string describe_library();

}  // namespace rest_echo::json
