#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/exchange.hpp"
#include "support/response_text.hpp"

namespace rest_echo::echo {

/// What is due for one request.
struct Answer {
  Answer(int code) : status(code) {}
  Answer(int code, std::string text) : status(code), content(std::move(text)) {}

  int status;
  /// The content, where it is told.
  std::optional<std::string> content = std::nullopt;
  bool is_to_head = false;
};

/// 200 and this document.
inline Answer echoed(std::string document) { return {200, std::move(document)}; }
inline Answer to_head(int status) {
  Answer answer(status);
  answer.is_to_head = true;
  return answer;
}
inline const Answer kHello{200, "Hello World"};

enum class Ending {
  stays,   ///< the next request may come
  closes,  ///< nothing more is read or answered
  inside,  ///< stays, and the rest of a request is due
};

/// What is received, and what is due for it however it is cut.
struct Row {
  std::string name;
  std::string wire;
  std::vector<Answer> answers;
  Ending ending = Ending::stays;
  /// Where heads end that ask for 100 Continue: it is due exactly if no octet behind has been received there.
  std::vector<std::size_t> continues = {};
};

/// A document that is written as it is read, and one of any size from 40 up.
inline const std::string kDocument = R"({"colors":[{"color":"red","code":{}}]})";
inline std::string document_of(std::size_t size) {
  constexpr std::string_view kStart = R"({"colors":[{"color":")";
  constexpr std::string_view kEnd = R"(","code":{}}]})";
  return std::string(kStart) + std::string(size - kStart.size() - kEnd.size(), 'c') + std::string(kEnd);
}

/// A request with this line and Host, without content.
inline std::string request(const std::string& request_line, const std::string& field_lines = "") {
  return request_line + "\r\nHost: h\r\n" + field_lines + "\r\n";
}
inline std::string get(const std::string& field_lines = "") { return request("GET / HTTP/1.1", field_lines); }
/// POST with Content-Length.
inline std::string post(const std::string& content, const std::string& field_lines = "") {
  return request("POST / HTTP/1.1",
                 field_lines + "Content-Length: " + std::to_string(content.size()) + "\r\n") +
         content;
}
inline std::string chunk(const std::string& content) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", content.size());
  return size + content + "\r\n";
}
/// POST in chunks; `body` is what follows the head as it is on the wire.
inline std::string chunked(const std::string& body, const std::string& field_lines = "") {
  return request("POST / HTTP/1.1", field_lines + "Transfer-Encoding: chunked\r\n") + body;
}
inline const std::string kLastChunk = "0\r\n\r\n";

inline std::string describe(const std::vector<test::Response>& responses) {
  std::string text;
  for (const test::Response& response : responses) {
    text += std::to_string(response.status) + " " + response.content.value_or("(none)").substr(0, 300) + "\n";
  }
  return text;
}

/// Reads what was sent; every flaw is a failure of the test.
inline std::vector<test::Response> read_all(const std::string& sent, bool closes) {
  std::vector<test::Response> responses;
  if (const auto flaw = test::read_responses(sent, responses)) ADD_FAILURE() << *flaw << " in\n" << sent;
  for (std::size_t i = 0; i < responses.size(); ++i) {
    const auto flaw = test::find_flaw(responses[i], i + 1 == responses.size(), closes, test::kDate);
    if (flaw) ADD_FAILURE() << "response " << i << ": " << *flaw << " in\n" << sent;
  }
  return responses;
}

/// Whether the responses are those due.
inline bool are_due(const std::vector<test::Response>& responses, const std::vector<Answer>& answers) {
  return std::ranges::equal(responses, answers, [](const test::Response& response, const Answer& answer) {
    if (response.status != answer.status) return false;
    if (answer.is_to_head || answer.status == 204) return !response.content;
    return response.content && (!answer.content || *response.content == *answer.content);
  });
}

/// Each row whole, cut in two at every octet, and octet by octet, in conversations that share a workspace.
class RowChecker {
 public:
  explicit RowChecker(const http::Limits& limits = {}, json::Mode mode = json::Mode::typed)
      : workspace_(limits, mode) {}

  echo::Workspace& workspace() { return workspace_; }

  void check(const std::vector<Row>& rows) {
    for (const Row& row : rows) check(row);
  }
  void check(const Row& row) {
    SCOPED_TRACE(row.name);
    const std::string sent = check_whole(row);
    test::for_each_cutting(row.wire.size(),
                           [&](const test::Cutting& cutting) { check_cut(row, cutting, sent); });
  }

 private:
  std::string check_whole(const Row& row) {
    test::Exchange exchange(workspace_);
    exchange.send(row.wire);
    std::string sent = exchange.sent();
    test::take_continues(sent);
    const bool closes = row.ending == Ending::closes;
    const std::vector<test::Response> responses = read_all(sent, closes);
    EXPECT_TRUE(are_due(responses, row.answers)) << "told:\n" << describe(responses);
    if (!closes) {
      EXPECT_EQ(exchange.answered_count(), row.answers.size());
    }
    check_ending(row, exchange);
    return sent;
  }

  void check_cut(const Row& row, const test::Cutting& cutting, const std::string& sent_whole) {
    test::Exchange exchange(workspace_);
    exchange.send(row.wire, cutting);
    std::string sent = exchange.sent();
    const std::size_t continue_count = test::take_continues(sent);
    const auto continues_due = std::ranges::count_if(row.continues, [&](std::size_t offset) {
      return std::ranges::find(cutting, offset) != cutting.end();
    });
    if (sent == sent_whole && continue_count == static_cast<std::size_t>(continues_due)) {
      check_ending(row, exchange);
      return;
    }
    ADD_FAILURE() << test::describe(cutting) << ": " << continue_count << " times 100, due " << continues_due
                  << "\ntold:\n"
                  << sent << "\nwhole:\n"
                  << sent_whole;
  }

  void check_ending(const Row& row, test::Exchange& exchange) {
    EXPECT_EQ(exchange.conversation().is_over(), row.ending == Ending::closes);
    EXPECT_EQ(workspace_.received.unread_size(), 0U) << "the shared buffer is not empty";
    EXPECT_FALSE(workspace_.parser.has_begun()) << "the shared parser is not fresh";
    if (row.ending == Ending::closes) return;
    EXPECT_EQ(exchange.is_inside_request(), row.ending == Ending::inside);
    if (row.ending == Ending::inside) return;
    const std::size_t sent_size = exchange.sent().size();
    exchange.send("GET /still-there HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_TRUE(are_due(read_all(exchange.sent().substr(sent_size), false), {kHello}));
  }

  echo::Workspace workspace_;
};

inline void check(const std::vector<Row>& rows) { RowChecker().check(rows); }

}  // namespace rest_echo::echo
