#pragma once

#include <cstddef>

namespace rest_echo {

/// Readable, initialised octets that follow whatever a buffer holds, so that block-wise readers (simdjson and
/// our own) may look past its end. Their content never changes a result.
inline constexpr std::size_t kPaddingSize = 64;

}  // namespace rest_echo
