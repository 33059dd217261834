// Whatever a peer sends, however it is cut: the same responses, each of them sound, and one more if it breaks
// off inside a request.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/fuzz_support.hpp"
#include "support/exchange.hpp"
#include "support/response_text.hpp"

namespace {

using namespace rest_echo;

http::Limits small_limits() {
  http::Limits limits;
  limits.head_size_max = 1024;
  limits.field_count_max = 20;
  limits.body_size_max = 8192;
  limits.chunk_line_size_max = 64;
  limits.chunk_extensions_size_max = 128;
  limits.trailer_section_size_max = 128;
  return limits;
}

void require_sound(const std::string& sent, bool closes, std::size_t count_more_than) {
  std::vector<test::Response> responses;
  const std::optional<std::string> unreadable = test::read_responses(sent, responses);
  test::require(!unreadable, unreadable.value_or(""));
  test::require(responses.size() >= count_more_than, "a response for every request");
  for (std::size_t i = 0; i < responses.size(); ++i) {
    const auto flaw = test::find_flaw(responses[i], i + 1 == responses.size(), closes, test::kDate);
    test::require(!flaw, flaw.value_or(""));
    test::require(responses[i].status != 500, "the reader and the fault locator agree");
  }
}

void converse(std::string_view input, echo::Workspace& workspace) {
  test::Exchange whole(workspace);
  whole.send(input);
  std::string sent = whole.sent();
  test::take_continues(sent);
  const bool is_over = whole.conversation().is_over();
  const bool is_inside = whole.is_inside_request();
  require_sound(sent, is_over, whole.answered_count());

  for (const test::Cutting& cutting : test::cuttings_of(input)) {
    test::Exchange cut(workspace);
    cut.send(input, cutting);
    std::string sent_when_cut = cut.sent();
    test::take_continues(sent_when_cut);
    test::require(sent_when_cut == sent, "a cut changes no response");
    test::require(cut.conversation().is_over() == is_over, "a cut does not decide the end");
    test::require(cut.is_inside_request() == is_inside, "a cut does not decide what is awaited");
    test::require(cut.answered_count() == whole.answered_count(), "a cut does not change the count");
  }
  if (is_over) return;
  whole.end_input();
  std::string last = whole.sent();
  test::take_continues(last);
  last.erase(0, sent.size());
  test::require(last.empty() != is_inside, "an answer if it broke off inside a request");
  require_sound(last, true, is_inside ? 1 : 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* octets, std::size_t size) {
  static echo::Workspace typed(small_limits(), json::Mode::typed);
  static echo::Workspace generic(small_limits(), json::Mode::generic);
  const std::string_view input(reinterpret_cast<const char*>(octets), size);
  converse(input, test::hash_of(input) % 4 == 0 ? generic : typed);
  return 0;
}
