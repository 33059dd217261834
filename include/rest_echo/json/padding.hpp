#pragma once

#include <cstddef>

namespace rest_echo::json {

/// A JSON text to be read is followed by this many readable, initialised octets. What they hold does not
/// matter: pipelined requests may lie there.
inline constexpr std::size_t kPaddingSize = 64;

}  // namespace rest_echo::json
