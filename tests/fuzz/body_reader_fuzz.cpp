// The reader and the fault locator agree on every text; what is written is a Body again and written alike.

#include "json_fuzz.hpp"

using namespace rest_echo::json;
using rest_echo::test::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* octets, std::size_t size) {
  static Echo echo;
  const Outcome outcome = write_input(echo, octets, size, Mode::typed);
  if (outcome.fault) {
    require(outcome.fault->pointer.size() <= 64, "pointers are short");
    return 0;
  }
  const std::string& written = *outcome.written;
  require(written.size() <= 4 * size + 16, "what is written is bounded");
  // It is compact, with the fewest escapes, so that rewriting it changes nothing either.
  require(echo.write(written, Mode::generic) == written, "stays as written in generic mode");
  return 0;
}
