#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rest_echo::json {

/// What a text is read as: a Body, or any document.
enum class Mode : std::uint8_t { typed, generic };

enum class FaultCode : std::uint8_t {
  empty_body,     // no octet, or only white space
  invalid_utf8,   // ill-formed UTF-8 anywhere
  invalid_json,   // not the grammar of RFC 8259, or a lone surrogate escape
  too_deep,       // more than kDepthMax arrays and objects open at once
  type_mismatch,  // a value of the wrong type, or a number that is no int64 (typed mode only)
};

/// Arrays and objects that may be open at once.
inline constexpr std::size_t kDepthMax = 1024;

struct Fault {
  FaultCode code;
  std::size_t offset;  // octets from the start of the text
  /// RFC 6901, with keys as the text has them; empty unless code is type_mismatch. Only members of a Body
  /// lead to one, so it holds ASCII letters, digits and `/`.
  std::string pointer;
};

/// The code's name on the wire, such as `type_mismatch`.
[[nodiscard]] std::string_view fault_code_name(FaultCode code) noexcept;

/// Finds the fault for which BodyReader or DocumentRewriter refused `text`: a malformed text's first one in
/// octet order, else the first value of a wrong type. Nothing for a text they accept. This is the cold pass,
/// slow but linear, and needs no padding.
[[nodiscard]] std::optional<Fault> locate_fault(std::string_view text, Mode mode);

}  // namespace rest_echo::json
