#include "rest_echo/http/response_writer.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>

namespace rest_echo::http {
namespace {

constexpr std::time_t kTime = 784'111'777;
constexpr std::string_view kDateLine = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n";

class ResponseWriterTest : public testing::Test {
 protected:
  ResponseWriterTest() { writer_.set_time(kTime); }

  std::string take() {
    std::string sent(out_.unsent());
    out_.clear();
    return sent;
  }

  ResponseWriter writer_;
  WriteBuffer out_{64};
};

TEST_F(ResponseWriterTest, WritesAWholeResponse) {
  struct Row {
    ResponseHead head;
    std::string_view content;
    std::string_view start;
    std::string_view rest;
  };
  const Row rows[] = {
      {{}, "{}", "HTTP/1.1 200 OK\r\n", "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"},
      {{}, {}, "HTTP/1.1 200 OK\r\n", "Content-Type: application/json\r\nContent-Length: 0\r\n\r\n"},
      {{.media_type = MediaType::text},
       "Hello World",
       "HTTP/1.1 200 OK\r\n",
       "Content-Type: text/plain; charset=utf-8\r\nContent-Length: 11\r\n\r\nHello World"},
      {{.persistence = Persistence::closes},
       "{}",
       "HTTP/1.1 200 OK\r\n",
       "Connection: close\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"},
      {{.persistence = Persistence::stays_http_1_0},
       "{}",
       "HTTP/1.1 200 OK\r\n",
       "Connection: keep-alive\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"},
      {{.status = Status::method_not_allowed,
        .media_type = MediaType::problem,
        .persistence = Persistence::closes,
        .more_field_lines = "Allow: GET\r\n"},
       "{}",
       "HTTP/1.1 405 Method Not Allowed\r\n",
       "Connection: close\r\nAllow: GET\r\nContent-Type: application/problem+json\r\nContent-Length: "
       "2\r\n\r\n{}"},
  };
  for (const Row& row : rows) {
    writer_.write(out_, row.head, row.content);
    EXPECT_EQ(take(), std::string(row.start).append(kDateLine).append(row.rest));
  }
}

TEST_F(ResponseWriterTest, HeadIsThatOfTheWholeResponse) {
  for (const Persistence persistence :
       {Persistence::stays, Persistence::closes, Persistence::stays_http_1_0}) {
    for (const Status status : {Status::ok, Status::bad_request}) {
      for (const std::size_t size : {0U, 9U, 10U, 99'999U, 1'000'000U}) {
        const ResponseHead head{
            .status = status, .persistence = persistence, .more_field_lines = "Allow: GET\r\n"};
        const std::string content(size, 'x');
        writer_.write(out_, head, content);
        const std::string whole = take();
        writer_.write_head(out_, head, size);
        EXPECT_EQ(take() + content, whole);
      }
    }
  }
}

TEST_F(ResponseWriterTest, WithoutContentThereIsNoLength) {
  writer_.write_without_content(out_, {.status = Status::no_content, .more_field_lines = "Allow: GET\r\n"});
  EXPECT_EQ(take(), "HTTP/1.1 204 No Content\r\n" + std::string(kDateLine) + "Allow: GET\r\n\r\n");
  writer_.write_without_content(out_, {.status = Status::no_content, .persistence = Persistence::closes});
  EXPECT_EQ(take(), "HTTP/1.1 204 No Content\r\n" + std::string(kDateLine) + "Connection: close\r\n\r\n");
}

TEST_F(ResponseWriterTest, ContinueIsALineAndAnEmptyLine) {
  ResponseWriter::write_continue(out_);
  EXPECT_EQ(take(), "HTTP/1.1 100 Continue\r\n\r\n");
}

TEST_F(ResponseWriterTest, ContentMayTakeAnyNumberOfDigits) {
  // Each response leaves room for as many digits as the one before had.
  const std::size_t sizes[] = {5, 4000, 0, 70'000, 9, 10, 1'048'576, 99, 100, 999, 1000};
  std::string expected;
  for (const std::size_t size : sizes) {
    const std::string content(size, static_cast<char>('a' + size % 26));
    char* const to = writer_.begin(out_, {}, size + 1000);
    std::memcpy(to, content.data(), size);
    writer_.end(out_, to + size);
    expected.append("HTTP/1.1 200 OK\r\n").append(kDateLine).append("Content-Type: application/json\r\n");
    expected.append("Content-Length: ").append(std::to_string(size)).append("\r\n\r\n").append(content);
    ASSERT_EQ(out_.unsent(), expected) << size;
  }
}

TEST_F(ResponseWriterTest, MakesRoomForFieldLinesOfAnyLength) {
  const std::string lines = "Allow: " + std::string(5000, 'A') + "\r\n";
  const ResponseHead head{.more_field_lines = lines};
  const auto take_from_new = [&](auto write) {
    WriteBuffer out(1);
    write(out);
    return std::string(out.unsent());
  };
  writer_.write(out_, head, "{}");
  const std::string whole = take();
  EXPECT_NE(whole.find(lines), std::string::npos);
  EXPECT_EQ(take_from_new([&](WriteBuffer& out) { writer_.write(out, head, "{}"); }), whole);
  EXPECT_EQ(take_from_new([&](WriteBuffer& out) { writer_.write_head(out, head, 2); }) + "{}", whole);
  EXPECT_TRUE(take_from_new([&](WriteBuffer& out) {
                writer_.write_without_content(out, head);
              }).ends_with(lines + "\r\n"));
}

TEST_F(ResponseWriterTest, BegunButNotEndedIsNotWritten) {
  writer_.write(out_, {}, "{}");
  const std::string first(out_.unsent());
  std::memset(writer_.begin(out_, {}, 5000), 'x', 5000);
  EXPECT_EQ(out_.unsent(), first);
  writer_.write(out_, {}, "{}");
  EXPECT_EQ(out_.unsent(), first + first);
}

TEST_F(ResponseWriterTest, DateFollowsTheTime) {
  for (const Persistence persistence : {Persistence::stays, Persistence::closes}) {
    writer_.set_time(kTime);
    writer_.write(out_, {.persistence = persistence}, "");
    EXPECT_NE(take().find("Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"), std::string::npos);
    writer_.set_time(kTime + 1);
    writer_.write(out_, {.persistence = persistence}, "");
    EXPECT_NE(take().find("Date: Sun, 06 Nov 1994 08:49:38 GMT\r\n"), std::string::npos);
  }
}

TEST(Status, EveryCodeHasItsPhrase) {
  struct Row {
    int code;
    std::string_view phrase;
  };
  constexpr Row kRows[] = {{200, "OK"},
                           {204, "No Content"},
                           {400, "Bad Request"},
                           {405, "Method Not Allowed"},
                           {408, "Request Timeout"},
                           {413, "Content Too Large"},
                           {414, "URI Too Long"},
                           {415, "Unsupported Media Type"},
                           {417, "Expectation Failed"},
                           {431, "Request Header Fields Too Large"},
                           {500, "Internal Server Error"},
                           {501, "Not Implemented"},
                           {503, "Service Unavailable"},
                           {505, "HTTP Version Not Supported"}};
  for (const Row& row : kRows) EXPECT_EQ(reason_phrase(static_cast<Status>(row.code)), row.phrase);
}

}  // namespace
}  // namespace rest_echo::http
