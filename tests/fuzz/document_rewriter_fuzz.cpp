// The rewriter and the fault locator agree on every text; what is written is never longer and written again
// alike.

#include "json_fuzz.hpp"

using namespace rest_echo::json;
using rest_echo::test::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* octets, std::size_t size) {
  static Echo echo;
  const Outcome outcome = write_input(echo, octets, size, Mode::generic);
  if (outcome.fault) {
    require(outcome.fault->code != FaultCode::type_mismatch, "any type will do");
    return 0;
  }
  require(outcome.written->size() <= size, "never longer");
  // Escapes and white space make no difference to types either.
  const std::optional<Fault> mismatch = locate_fault(outcome.text, Mode::typed);
  const std::optional<Fault> mismatch_again = locate_fault(*outcome.written, Mode::typed);
  require(mismatch.has_value() == mismatch_again.has_value(), "of the same types");
  if (mismatch) require(mismatch->pointer == mismatch_again->pointer, "with the same mismatch");
  return 0;
}
