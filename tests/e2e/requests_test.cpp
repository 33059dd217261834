// What is answered to whom, over real sockets.

#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <vector>

#include "e2e/client.hpp"
#include "e2e/requests.hpp"
#include "e2e/server.hpp"

namespace rest_echo::e2e {
namespace {

class Requests : public testing::Test {
 protected:
  Server server_;
  Client client_{server_.port()};

  // The connection goes on, in step.
  void expect_usable() {
    EXPECT_EQ(client_.received(), "");
    EXPECT_EQ(client_.ask(kGet).content, kHello);
  }
  void expect_end() {
    EXPECT_EQ(client_.wait_for_end(), End::finished);
    EXPECT_EQ(client_.received(), "");
  }
};

std::string reference_answer() { return read_file(source_file("tests/e2e/reference_answer.json")); }

TEST_F(Requests, ReferenceDocumentComesBackCompact) {
  const std::string document = read_file(source_file("body.json"));
  ASSERT_EQ(document.size(), 5104U);
  const Response response = client_.ask(post(document, "Content-Type: application/json\r\n"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.field("Content-Type"), "application/json");
  EXPECT_EQ(response.field("Content-Length"), "2200");
  EXPECT_EQ(response.field("Connection"), "");
  EXPECT_EQ(response.content, reference_answer());
  expect_usable();
}

TEST_F(Requests, NodeWouldAnswerTheSame) {
  if (!has_program("node")) GTEST_SKIP() << "no node here";
  const std::string script =
      "process.stdout.write(JSON.stringify(JSON.parse(require('fs').readFileSync(process.argv[1]))))";
  const Finished node = run({.command = {"node", "-e", script, source_file("body.json")}});
  EXPECT_EQ(node.status, 0) << node.errors;
  EXPECT_EQ(node.output, reference_answer());
}

TEST_F(Requests, EveryMethodHasItsAnswer) {
  struct Row {
    std::string method;
    int status;
    std::string content;
  };
  const std::string document = numbered_document(1, 64);
  const std::vector<Row> rows{{"POST", 200, document},   {"PUT", 200, document}, {"PATCH", 200, document},
                              {"DELETE", 200, document}, {"GET", 200, document}, {"OPTIONS", 204, ""}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.method);
    const Response response = client_.ask(row.method + post(document).substr(4));
    EXPECT_EQ(response.status, row.status);
    EXPECT_EQ(response.content, row.content);
    EXPECT_FALSE(response.says_close());
  }
  for (const char* method : {"TRACE", "CONNECT"}) {
    SCOPED_TRACE(method);
    Client client(server_.port());
    const std::string target = method == std::string_view("CONNECT") ? "test:80" : "/";
    const Response response =
        client.ask(std::string(method) + " " + target + " HTTP/1.1\r\nHost: test:80\r\n\r\n");
    EXPECT_EQ(response.status, 405);
    EXPECT_NE(response.field("Allow").find("POST"), std::string::npos);
  }
  EXPECT_EQ(client_.ask("BREW / HTTP/1.1\r\nHost: test\r\n\r\n").status, 501);
  expect_usable();
}

TEST_F(Requests, GetSaysHello) {
  const Response response = client_.ask("GET /any/path?query HTTP/1.1\r\nHost: test\r\n\r\n");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content, kHello);
  EXPECT_EQ(response.field("Content-Length"), "11");
  EXPECT_TRUE(response.field("Content-Type").starts_with("text/plain")) << response.head;
  expect_usable();
}

TEST_F(Requests, HeadHasTheFieldsOfGetOnly) {
  client_.send("HEAD / HTTP/1.1\r\nHost: test\r\n\r\n");
  const Response response = client_.receive(false);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.field("Content-Length"), "11");
  expect_usable();
}

TEST_F(Requests, HealthCheckIsOk) {
  const Response response = client_.ask(kHealthCheck);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content, R"({"status":"ok"})");
  EXPECT_EQ(response.field("Content-Type"), "application/json");
  expect_usable();
}

TEST_F(Requests, DateIsNow) {
  const Response response = client_.ask(kGet);
  std::tm time{};
  ASSERT_NE(::strptime(response.field("Date").c_str(), "%a, %d %b %Y %H:%M:%S GMT", &time), nullptr)
      << response.head;
  EXPECT_NEAR(static_cast<double>(::timegm(&time)), static_cast<double>(std::time(nullptr)), 3.0);
}

TEST_F(Requests, DateGoesOn) {
  const std::string first = client_.ask(kGet).field("Date");
  EXPECT_TRUE(eventually([&] { return client_.ask(kGet).field("Date") != first; }));
}

TEST_F(Requests, FaultIsAProblemDocument) {
  const Response response = client_.ask(post(R"({"colors":[{"color":5}]})"));
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.field("Content-Type"), "application/problem+json");
  for (const char* part : {R"("title":"Bad Request")", R"("status":400)", R"("code":"type_mismatch")",
                           R"("offset":20)", R"("pointer":"/colors/0/color")"}) {
    EXPECT_NE(response.content.find(part), std::string::npos) << part << " in " << response.content;
  }
  expect_usable();
}

TEST_F(Requests, ChunkedContentIsEchoedLikeAnyOther) {
  const std::string document = numbered_document(7);
  for (const std::size_t chunk_size : std::vector<std::size_t>{1, 7, 1000, 4096}) {
    const Response response = client_.ask(post_chunked(document, chunk_size));
    EXPECT_EQ(response.status, 200) << chunk_size;
    EXPECT_EQ(response.content, document) << chunk_size;
  }
  expect_usable();
}

TEST_F(Requests, ContentUpToTheLimitIsEchoed) {
  for (const std::size_t size : std::vector<std::size_t>{65'536, 921'600, 1'048'576}) {
    const std::string document = numbered_document(1, size);
    ASSERT_EQ(document.size(), size);
    EXPECT_EQ(client_.ask(post(document)).content, document) << size;
    EXPECT_EQ(client_.ask(post_chunked(document, 50'000)).content, document) << size;
  }
  expect_usable();
}

// C06: the interim answer is due at once and whole, or every larger curl POST takes a second longer.
TEST_F(Requests, ContinueComesBeforeTheContent) {
  const std::string document = numbered_document(1);
  const std::string request = post(document, "Expect: 100-Continue\r\n");
  const std::size_t head_size = request.size() - document.size();
  for (int round = 0; round < 2; ++round) {
    client_.send(request.substr(0, head_size));
    const Response interim = client_.receive();
    EXPECT_EQ(interim.head, "HTTP/1.1 100 Continue\r\n\r\n");
    client_.send(document);
    EXPECT_EQ(client_.receive().content, document);
  }
  std::string chunked = post_chunked(document, 100);
  chunked.insert(chunked.find("Transfer-"), "Expect: 100-continue\r\n");
  const std::size_t chunks = chunked.find("\r\n\r\n") + 4;
  client_.send(std::string_view(chunked).substr(0, chunks));
  EXPECT_EQ(client_.receive().status, 100);
  client_.send(std::string_view(chunked).substr(chunks));
  EXPECT_EQ(client_.receive().content, document);
}

TEST_F(Requests, NoContinueWhenTheContentIsThere) {
  const std::string document = numbered_document(1, 100);
  EXPECT_EQ(client_.ask(post(document, "Expect: 100-continue\r\n")).status, 200);
  expect_usable();
}

TEST_F(Requests, NoContinueForWhatIsRefusedAnyway) {
  client_.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 2000000\r\nExpect: 100-continue\r\n\r\n");
  const Response response = client_.receive();
  EXPECT_EQ(response.status, 413);
  EXPECT_TRUE(response.says_close());
  expect_end();
}

TEST_F(Requests, NoContinueForHttp10) {
  client_.send("POST / HTTP/1.0\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_FALSE(client_.has_received_within(Milliseconds{200}));
  client_.send("{}");
  EXPECT_EQ(client_.receive().status, 200);
  expect_end();
}

TEST_F(Requests, UnknownExpectationIsRefused) {
  client_.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\nExpect: miracles\r\n\r\n");
  EXPECT_EQ(client_.receive().status, 417);
}

// C08: ApacheBench speaks HTTP/1.0 and waits for the end, unless it asks for more.
TEST_F(Requests, Http10Closes) {
  client_.send("POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}");
  const Response response = client_.receive();
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content, R"({"colors":null})");
  EXPECT_EQ(response.field("Transfer-Encoding"), "");
  expect_end();
}

TEST_F(Requests, Http10StaysWhenAskedAndSaysSo) {
  for (int round = 0; round < 3; ++round) {
    const Response response =
        client_.ask("POST / HTTP/1.0\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\n{}");
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.field("Connection"), "keep-alive");
  }
  expect_usable();
}

TEST_F(Requests, CloseIsAnnouncedAndDone) {
  const Response response = client_.ask(post(numbered_document(1), "Connection: close\r\n"));
  EXPECT_EQ(response.status, 200);
  EXPECT_TRUE(response.says_close());
  expect_end();
}

// C25
TEST_F(Requests, NoLengthMeansNoContent) {
  for (const char* request :
       {"POST / HTTP/1.1\r\nHost: test\r\n\r\n", "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\n\r\n \r\n"}) {
    const Response response = client_.ask(request);
    EXPECT_EQ(response.status, 400);
    EXPECT_NE(response.content.find(R"("code":"empty_body")"), std::string::npos) << response.content;
  }
  expect_usable();
}

// C23
TEST_F(Requests, LabelDoesNotMatter) {
  for (const char* type : {"application/json; charset=utf-8", "application/vnd.x+json",
                           "application/x-www-form-urlencoded", "lol", "", "text/plain"}) {
    const Response response = client_.ask(post("{}", "Content-Type: " + std::string(type) + "\r\n"));
    EXPECT_EQ(response.status, 200) << type;
    EXPECT_EQ(response.field("Content-Type"), "application/json") << type;
  }
  const Response response = client_.ask(post("{}", "Content-Encoding: gzip\r\n"));
  EXPECT_EQ(response.status, 415);
  expect_usable();
}

}  // namespace
}  // namespace rest_echo::e2e
