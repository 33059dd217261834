#pragma once

#include <cstddef>

namespace rest_echo::http {

/// What one request may cost. Sizes in octets.
struct Limits {
  /// Request line and field lines with their ends. RFC 9112 §3 asks for 8,000 of request line; big cookies
  /// need more.
  std::size_t head_size_max = 16 * 1024;
  /// Field lines. A browser sends 15, a chain of proxies 60.
  std::size_t field_count_max = 256;
  /// The longest registered method has 17 letters.
  std::size_t method_size_max = 64;
  /// Content after transfer decoding.
  std::size_t body_size_max = 1024 * 1024;
  /// One chunk's size and extensions, up to its line end.
  std::size_t chunk_line_size_max = 16 * 1024;
  /// Chunk extensions in one message; a body of 4 kB in chunks of one octet with `;ext=1` has 24 kB.
  std::size_t chunk_extensions_size_max = 64 * 1024;
  /// The trailer section.
  std::size_t trailer_section_size_max = 16 * 1024;
};

}  // namespace rest_echo::http
