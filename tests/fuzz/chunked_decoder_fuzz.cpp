// Chunks are decoded alike however they are cut, and any content comes back from the chunks made of it.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "fuzz/fuzz_support.hpp"
#include "support/request_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* octets, std::size_t size) {
  using namespace rest_echo;
  const std::string_view input(reinterpret_cast<const char*>(octets), size);
  if (input.empty()) return 0;
  http::Limits limits;
  limits.body_size_max = 4096;
  limits.chunk_line_size_max = 64;
  limits.chunk_extensions_size_max = 128;
  limits.trailer_section_size_max = 128;
  const std::string told = test::decode_chunked(input, {size}, limits);
  for (const test::Cutting& cutting : test::cuttings_of(input)) {
    test::require(test::decode_chunked(input, cutting, limits) == told, "a cut changes nothing");

    std::string chunks;
    std::size_t offset = 0;
    for (const std::size_t end : cutting) {
      char line[32];
      std::snprintf(line, sizeof line, "%zx\r\n", end - offset);
      chunks.append(line).append(input.substr(offset, end - offset)).append("\r\n");
      offset = end;
    }
    chunks += "0\r\n\r\n";
    const std::string decoded = test::decode_chunked(chunks, {chunks.size()}, http::Limits{});
    test::require(decoded == input, "content comes back");
  }
  return 0;
}
