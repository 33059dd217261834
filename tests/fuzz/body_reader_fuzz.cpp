// The reader and the fault locator agree on every text; what is written is a Body again and written alike.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "json/echo.hpp"

namespace {

using namespace rest_echo::json;

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* octets, std::size_t size) {
  static Echo echo;
  const std::string text(reinterpret_cast<const char*>(octets), size);
  const char padding = size == 0 ? '\0' : text[size / 2];
  const std::optional<std::string> written = echo.write(text, Mode::typed, padding);
  const std::optional<Fault> fault = locate_fault(text, Mode::typed);
  require(written.has_value() != fault.has_value());
  if (fault) {
    require(fault->offset <= size);
    require(fault->pointer.size() <= 64);
    return 0;
  }
  require(written->size() <= 4 * size + 16);
  require(echo.write(*written, Mode::typed) == written);
  // It is compact, with the fewest escapes, so that rewriting it changes nothing either.
  require(echo.write(*written, Mode::generic) == written);
  return 0;
}
