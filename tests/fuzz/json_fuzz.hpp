#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "fuzz_support.hpp"
#include "json/echo.hpp"

namespace rest_echo::json {

/// What became of a fuzz input.
struct Outcome {
  std::string text;
  std::optional<std::string> written;
  std::optional<Fault> fault;
};

/// Writes the input again, with padding made of one of its octets, and asks for its fault: there is one or
/// the other. Writing what was written changes nothing.
inline Outcome write_input(Echo& echo, const std::uint8_t* octets, std::size_t size, Mode mode) {
  Outcome outcome{std::string(reinterpret_cast<const char*>(octets), size), {}, {}};
  const char padding = size == 0 ? '\0' : outcome.text[size / 2];
  outcome.written = echo.write(outcome.text, mode, padding);
  outcome.fault = locate_fault(outcome.text, mode);
  test::require(outcome.written.has_value() != outcome.fault.has_value(), "written or at fault");
  if (outcome.fault) test::require(outcome.fault->offset <= size, "a fault lies in the text");
  if (outcome.written)
    test::require(echo.write(*outcome.written, mode) == outcome.written, "stays as written");
  return outcome;
}

}  // namespace rest_echo::json
