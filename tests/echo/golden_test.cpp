// What is on the wire, octet for octet: every golden/NAME.request.http, received whole, is answered with
// NAME.response.http. To change one is to change what clients see.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/exchange.hpp"
#include "support/response_text.hpp"

namespace rest_echo::echo {
namespace {

const std::filesystem::path kDirectory = REST_ECHO_SOURCE_DIR "/tests/golden";
constexpr std::string_view kRequestSuffix = ".request.http";
constexpr std::string_view kResponseSuffix = ".response.http";

std::string read_file(std::filesystem::path path, std::string_view suffix = "") {
  path += suffix;
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The names of the files that end with `suffix`, without it.
std::vector<std::string> names_with(std::string_view suffix) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kDirectory)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(suffix)) names.push_back(name.substr(0, name.size() - suffix.size()));
  }
  std::ranges::sort(names);
  return names;
}

TEST(Golden, EveryRequestHasItsResponse) {
  EXPECT_FALSE(names_with(kRequestSuffix).empty());
  EXPECT_EQ(names_with(kRequestSuffix), names_with(kResponseSuffix));
}

TEST(Golden, ResponsesAreTheSameOctetForOctet) {
  Workspace workspace({}, json::Mode::typed);
  for (const std::string& name : names_with(kRequestSuffix)) {
    const std::string request = read_file(kDirectory / name, kRequestSuffix);
    const std::string response = read_file(kDirectory / name, kResponseSuffix);
    test::Exchange whole(workspace);
    whole.send(request);
    EXPECT_EQ(whole.sent(), response) << name;
    // Cut elsewhere, 100 Continue may come or not.
    std::string due = response;
    test::take_continues(due);
    test::for_each_cutting(request.size(), [&](const test::Cutting& cutting) {
      test::Exchange cut(workspace);
      cut.send(request, cutting);
      std::string sent = cut.sent();
      test::take_continues(sent);
      if (sent != due) ADD_FAILURE() << name << ", " << test::describe(cutting) << "\n" << sent;
    });
  }
}

TEST(Golden, TheReferenceBodyIsAnsweredWith2200Octets) {
  const std::string response = read_file(kDirectory / "echo.response.http");
  std::vector<test::Response> responses;
  ASSERT_EQ(test::read_responses(response, responses), std::nullopt);
  ASSERT_EQ(responses.size(), 1U);
  EXPECT_EQ(responses.front().content.value_or("").size(), 2200U);
  const std::string request = read_file(kDirectory / "echo.request.http");
  EXPECT_EQ(request.substr(request.find("\r\n\r\n") + 4), read_file(REST_ECHO_SOURCE_DIR "/body.json"));
}

}  // namespace
}  // namespace rest_echo::echo
