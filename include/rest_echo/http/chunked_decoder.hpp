#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rest_echo/http/limits.hpp"
#include "rest_echo/http/request_fault.hpp"

namespace rest_echo::http {

/// Takes the chunked transfer coding off (RFC 9112 §7.1), in place and in pieces of any size: every octet
/// given is consumed at once, so a caller has nothing to keep but the content.
class ChunkedDecoder {
 public:
  enum class Outcome : std::uint8_t { need_more, complete, failed };

  struct Progress {
    Outcome outcome;
    std::size_t consumed_size;  ///< octets of `received` that belong to this message
    std::size_t content_size;   ///< octets of content written to `content`
  };

  /// Decodes `received` and writes what is content to `content`, which is at or before its start. `limits`
  /// bounds the whole message: pass the same each time. After `complete` or `failed` do not call again.
  [[nodiscard]] Progress decode(std::span<const char> received, char* content, const Limits& limits) noexcept;

  [[nodiscard]] RequestFault fault() const noexcept { return fault_; }

 private:
  enum class State : std::uint8_t {
    size_first,
    size,
    extension_bws,       // after BWS, `;` is due
    extension_name_bws,  // after `;`
    extension_name,
    extension_equals_bws,  // after a name and BWS, `=` or `;` is due
    extension_value_bws,   // after `=`
    extension_token,
    extension_quoted,
    extension_quoted_pair,
    extension_end,  // after a quoted string
    size_lf,
    content,
    content_cr,
    content_lf,
    trailer_first,
    trailer_name,
    trailer_value,
    trailer_lf,
    last_lf,
  };

  // Each takes one octet of framing; where it may not stand, fault_ says so.
  void take_size(char octet, const Limits& limits) noexcept;
  void take_extension(char octet, const Limits& limits) noexcept;
  void take_trailer(char octet, const Limits& limits) noexcept;
  void end_size_line(const Limits& limits) noexcept;
  void fail(RequestFault fault) noexcept;

  State state_ = State::size_first;
  RequestFault fault_ = RequestFault::none;
  std::size_t chunk_rest_ = 0;       // of the chunk's size: content still to come
  std::size_t content_size_ = 0;     // in the message so far
  std::size_t line_size_ = 0;        // of the chunk's size line so far
  std::size_t extensions_size_ = 0;  // in the message so far
  std::size_t trailers_size_ = 0;    // in the message so far
};

}  // namespace rest_echo::http
