// C07: an answer that refuses what is still being sent must reach the client: no reset may overtake it.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "e2e/client.hpp"
#include "e2e/requests.hpp"
#include "e2e/server.hpp"

namespace rest_echo::e2e {
namespace {

constexpr std::size_t kMegabyte = 1U << 20;

class Closing : public testing::Test {
 protected:
  Server server_;

  void expect_service() { EXPECT_EQ(Client(server_.port()).ask(kGet).content, kHello); }

  // The refusal and the end, both read only after everything has been sent.
  static void expect_refusal(Client& client, int status) {
    const Response response = client.receive();
    EXPECT_EQ(response.status, status);
    EXPECT_TRUE(response.says_close()) << response.head;
    EXPECT_EQ(response.field("Content-Type"), "application/problem+json");
    EXPECT_EQ(client.wait_for_end(), End::finished);
    EXPECT_EQ(client.received(), "") << "one answer only";
  }
};

TEST_F(Closing, OversizeIsReadableWhileTheClientGoesOnSending) {
  for (const std::size_t size : std::vector<std::size_t>{256 * 1024, kMegabyte, 4 * kMegabyte}) {
    SCOPED_TRACE(size);
    Client client(server_.port());
    client.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 1099511627776\r\n\r\n");
    EXPECT_TRUE(client.send(std::string(size, 'x')));
    expect_refusal(client, 413);
  }
  expect_service();
}

TEST_F(Closing, ChunkedContentIsRefusedOnceItIsTooLarge) {
  const std::size_t size_before = resident_size(server_.pid());
  Client client(server_.port());
  client.send("POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "10000\r\n" + std::string(65'536, ' ') + "\r\n";
  for (int count = 0; count < 64; ++count) ASSERT_TRUE(client.send(chunk)) << count;  // 4 MB
  expect_refusal(client, 413);
  if (!kIsSanitized) {
    EXPECT_LT(resident_size_max(server_.pid()), size_before + 8 * kMegabyte);
  }
  expect_service();
}

TEST_F(Closing, HugeChunkIsRefusedBeforeItComes) {
  Client client(server_.port());
  client.send("POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFF\r\n");
  expect_refusal(client, 413);
}

// Nobody is dropped politely for ever.
TEST_F(Closing, EndlessContentIsCutOffInTheEnd) {
  Client client(server_.port());
  client.send("POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "10000\r\n" + std::string(65'536, ' ') + "\r\n";
  const Clock::time_point start = Clock::now();
  while (client.send(chunk, Milliseconds{1000}) && elapsed_since(start) < kPatience) {
  }
  EXPECT_LT(elapsed_since(start), kPatience);
  expect_service();
}

TEST_F(Closing, ClientThatNeverClosesIsLeftInTheEnd) {
  const std::size_t count_before = descriptor_count(server_.pid());
  Client quiet(server_.port());
  quiet.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 1099511627776\r\n\r\n");
  EXPECT_EQ(quiet.receive().status, 413);
  EXPECT_TRUE(eventually([&] { return descriptor_count(server_.pid()) <= count_before; }));
}

// C22: what browsers and proxies really send fits; beyond that there is an answer, not a reset.
TEST_F(Closing, OrdinaryHeadsFit) {
  Client client(server_.port());
  const std::string begin = "GET / HTTP/1.1\r\nHost: test\r\n";
  EXPECT_EQ(client.ask(begin + "Cookie: " + std::string(6'000, 'c') + "\r\n\r\n").status, 200);
  std::string fields;
  for (int number = 0; number < 100; ++number) fields += "X-Field-" + std::to_string(number) + ": value\r\n";
  EXPECT_EQ(client.ask(begin + fields + "\r\n").status, 200);
  EXPECT_EQ(client.ask("GET /" + std::string(8'000, 'p') + " HTTP/1.1\r\nHost: test\r\n\r\n").status, 200);
}

TEST_F(Closing, OversizeHeadsAreRefusedReadably) {
  const std::string begin = "GET / HTTP/1.1\r\nHost: test\r\n";
  struct Row {
    std::string name;
    std::string request;
    int status;
  };
  std::string many_fields = begin;
  while (many_fields.size() < 300'000) many_fields += "X: y\r\n";
  const std::vector<Row> rows{
      {"one large field", begin + "X: " + std::string(300'000, 'x') + "\r\n\r\n", 431},
      {"fields without an end", many_fields, 431},
      {"a large target", "GET /" + std::string(200'000, 'p') + " HTTP/1.1\r\nHost: test\r\n\r\n", 414},
      {"a line without an end", "GET /" + std::string(kMegabyte, 'p'), 414},
      {"a large method", std::string(100'000, 'M') + " / HTTP/1.1\r\nHost: test\r\n\r\n", 400},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Client client(server_.port());
    EXPECT_TRUE(client.send(row.request));
    expect_refusal(client, row.status);
  }
  expect_service();
}

TEST_F(Closing, OversizeTrailersAreRefusedReadably) {
  Client client(server_.port());
  std::string request = post_chunked("{}", 2);
  request.resize(request.size() - 2);
  EXPECT_TRUE(client.send(request + "X: " + std::string(100'000, 'x') + "\r\n\r\n"));
  expect_refusal(client, 431);
}

// C14: contradictions are one fault and the end, whatever hides behind them.
TEST_F(Closing, FaultyFramingIsOneAnswerAndTheEnd) {
  struct Row {
    std::string fields;
    int status;
  };
  const std::vector<Row> rows{
      {"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", 400},
      {"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n", 400},
      {"Content-Length: 2\r\nContent-Length: 3\r\n", 400},
      {"Content-Length: 2, 3\r\n", 400},
      {"Content-Length: -5\r\n", 400},
      {"Content-Length: +2\r\n", 400},
      {"Content-Length: 2x\r\n", 400},
      {"Content-Length: 0x2\r\n", 400},
      {"Content-Length: \r\n", 400},
      {"Content-Length: 99999999999999999999999\r\n", 400},
      {"Content-Length: 4294967309\r\n", 413},
      {"Content-Length : 2\r\n", 400},
      {"Transfer-Encoding: chunked, gzip\r\n", 400},
      {"Transfer-Encoding: gzip, chunked\r\n", 501},
      {"Transfer-Encoding: gzip\r\n", 501},
      {std::string("X: a\0b\r\n", 8), 400},
      {"X: a\r\n folded\r\n", 400},
      {"X: bare\nContent-Length: 2\r\n", 400},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.fields);
    Client client(server_.port());
    client.send("POST / HTTP/1.1\r\nHost: test\r\n" + row.fields + "\r\n{}" + std::string(kGet));
    expect_refusal(client, row.status);
  }
  expect_service();
}

// C13: chunks.
TEST_F(Closing, FaultyChunksAreOneAnswerAndTheEnd) {
  for (const char* body :
       {"xyz\r\n{}\r\n0\r\n\r\n", "11111111111111111\r\n{}\r\n0\r\n\r\n", "2\r\n{}0\r\n\r\n",
        "2\n{}\r\n0\r\n\r\n", "0x2\r\n{}\r\n0\r\n\r\n", " 2\r\n{}\r\n0\r\n\r\n", "-2\r\n{}\r\n0\r\n\r\n",
        "2;\r\n{}\r\n0\r\n\r\n", "2\r\n{}\r\n0\r\nbad trailer\r\n\r\n"}) {
    SCOPED_TRACE(body);
    Client client(server_.port());
    client.send("POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(body) +
                std::string(kGet));
    expect_refusal(client, 400);
  }
}

TEST_F(Closing, OddButSoundChunksAreServed) {
  Client client(server_.port());
  const std::string head = "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: Chunked\r\n\r\n";
  for (const char* body : {"1;ext=1\r\n{\r\n1;a;b=\"q\"\r\n}\r\n0\r\n\r\n", "0002\r\n{}\r\n000\r\n\r\n",
                           "2\r\n{}\r\n0\r\nX-Trailer: yes\r\nContent-Length: 5\r\n\r\n"}) {
    EXPECT_EQ(client.ask(head + body).content, R"({"colors":null})") << body;
    EXPECT_EQ(client.ask(kGet).content, kHello) << body;
  }
}

}  // namespace
}  // namespace rest_echo::e2e
