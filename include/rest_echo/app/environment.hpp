#pragma once

#include <cstdlib>
#include <string_view>

namespace rest_echo::app {

/// An environment variable's value; empty where it is unset, as compose files pass empty ones for unset.
[[nodiscard]] inline std::string_view environment_value(const char* variable) noexcept {
  const char* const value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): one thread
  return value == nullptr ? std::string_view() : std::string_view(value);
}

}  // namespace rest_echo::app
