#pragma once

#include <string_view>

namespace rest_echo::net {

/// Writes `rest-echo: <text>` and a line end to stderr, in one piece. That nobody reads it is no reason to
/// stop serving: failures are ignored.
void log_line(std::string_view text) noexcept;

}  // namespace rest_echo::net
