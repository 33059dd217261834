// The rewriter and the fault locator agree on every text; what is written is never longer and written again
// alike.

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
  const std::optional<std::string> written = echo.write(text, Mode::generic, padding);
  const std::optional<Fault> fault = locate_fault(text, Mode::generic);
  require(written.has_value() != fault.has_value());
  if (fault) {
    require(fault->offset <= size);
    require(fault->code != FaultCode::type_mismatch);
    return 0;
  }
  require(written->size() <= size);
  require(echo.write(*written, Mode::generic) == written);
  // Escapes and white space make no difference to types either.
  const std::optional<Fault> mismatch = locate_fault(text, Mode::typed);
  const std::optional<Fault> mismatch_again = locate_fault(*written, Mode::typed);
  require(mismatch.has_value() == mismatch_again.has_value());
  if (mismatch) require(mismatch->pointer == mismatch_again->pointer);
  return 0;
}
