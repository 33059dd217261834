// A request is read, refused or awaited alike however it is cut, and nothing that is read or awaited has a
// beginning that is refused.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/fuzz_support.hpp"
#include "support/request_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* octets, std::size_t size) {
  using namespace rest_echo;
  const std::string_view input(reinterpret_cast<const char*>(octets), size);
  if (input.empty()) return 0;
  http::Limits limits;
  limits.head_size_max = 1024;
  limits.field_count_max = 20;
  limits.body_size_max = 4096;
  limits.chunk_line_size_max = 64;
  limits.chunk_extensions_size_max = 128;
  limits.trailer_section_size_max = 128;
  const std::string told = test::read_request(input, {size}, limits);
  const bool is_refused = told.starts_with("failed: ");
  for (const test::Cutting& cutting : test::cuttings_of(input)) {
    test::require(test::read_request(input, cutting, limits) == told, "a cut changes nothing");
    const std::size_t prefix_size = cutting.front();
    const std::string told_of_prefix =
        test::read_request(input.substr(0, prefix_size), {prefix_size}, limits);
    test::require(is_refused || !told_of_prefix.starts_with("failed: "), "a good beginning is not refused");
    test::require(!told_of_prefix.starts_with("failed: ") || told_of_prefix == told,
                  "what is wrong stays wrong");
  }
  return 0;
}
