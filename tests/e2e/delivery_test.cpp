// How octets come and go: in pieces, in heaps, slowly, and to clients that do not read.

#include <gtest/gtest.h>
#include <poll.h>

#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "e2e/client.hpp"
#include "e2e/requests.hpp"
#include "e2e/server.hpp"

namespace rest_echo::e2e {
namespace {

class Delivery : public testing::Test {
 protected:
  Server server_;

  void expect_service() { EXPECT_EQ(Client(server_.port()).ask(kGet).content, kHello); }
};

// A document whose text looks like a request, with blank lines.
std::string tricky_document() {
  return "{\"colors\":[{\"color\":\"GET / HTTP/1.1\",\r\n\r\n\"category\":\"POST /x HTTP/1.1\"}]}";
}
std::string tricky_answer() {
  return R"({"colors":[{"color":"GET / HTTP/1.1","category":"POST /x HTTP/1.1","code":{}}]})";
}

// C15
TEST_F(Delivery, OctetByOctet) {
  Client client(server_.port());
  for (const char octet : post(read_file(source_file("body.json")))) client.send({&octet, 1});
  EXPECT_EQ(client.receive().content, read_file(source_file("tests/e2e/reference_answer.json")));
}

TEST_F(Delivery, InTwoPiecesCutAnywhere) {
  Client client(server_.port());
  const std::string request = post(tricky_document());
  for (std::size_t cut = 1; cut < request.size(); ++cut) {
    client.send(std::string_view(request).substr(0, cut));
    pause_for(Milliseconds{1});
    client.send(std::string_view(request).substr(cut));
    const Response response = client.receive();
    ASSERT_EQ(response.status, 200) << cut;
    ASSERT_EQ(response.content, tricky_answer()) << cut;
    ASSERT_EQ(client.received(), "") << cut;
  }
}

TEST_F(Delivery, InSmallPieces) {
  Client client(server_.port());
  for (const std::string& request : {post(tricky_document()), post_chunked(tricky_document(), 5)}) {
    for (std::size_t offset = 0; offset < request.size(); offset += 7) {
      client.send(std::string_view(request).substr(offset, 7));
      pause_for(Milliseconds{1});
    }
    EXPECT_EQ(client.receive().content, tricky_answer());
  }
}

TEST_F(Delivery, HeadThenContentLater) {
  Client client(server_.port());
  const std::string document = numbered_document(1);
  const std::string request = post(document);
  client.send(std::string_view(request).substr(0, request.size() - document.size()));
  pause_for(Milliseconds{150});
  client.send(document);
  EXPECT_EQ(client.receive().content, document);
}

TEST_F(Delivery, ProperBeginningIsMetWithSilence) {
  const std::vector<std::string> beginnings{
      "P",
      "POST",
      "POST / HTTP/1.1\r\nHost: te",
      "POST / HTTP/1.1\r\nHost: test\r\n",
      post("{}").substr(0, post("{}").size() - 1),
      "\r\n",
      post_chunked("{}", 1).substr(0, post_chunked("{}", 1).size() - 2)};
  std::vector<Client> clients;
  for (const std::string& beginning : beginnings) clients.emplace_back(server_.port()).send(beginning);
  pause_for(Milliseconds{300});
  for (Client& client : clients)
    EXPECT_FALSE(client.has_received_within(Milliseconds{0})) << client.received();
}

// A client that says it has nothing more to ask is answered in full.
TEST_F(Delivery, HalfClosedClientGetsAllItsAnswers) {
  Client client(server_.port());
  std::string requests;
  for (std::size_t number = 0; number < 200; ++number) requests += post(numbered_document(number));
  client.send(requests);
  client.finish_sending();
  for (std::size_t number = 0; number < 200; ++number) {
    ASSERT_EQ(client.receive().content, numbered_document(number)) << number;
  }
  EXPECT_EQ(client.wait_for_end(), End::finished);
  EXPECT_EQ(client.received(), "");
}

// Its last word is still unread when the server stops reading because of what it has to send.
TEST_F(Delivery, HalfClosedSlowReaderGetsAllItsAnswers) {
  Client client(server_.port(), {.receive_buffer_size = 16'384});
  constexpr std::size_t kCount = 300;
  std::string requests;
  for (std::size_t number = 0; number < kCount; ++number) requests += post(numbered_document(number));
  std::size_t sent_size = 0;
  std::size_t answered_count = 0;
  for (; sent_size < requests.size(); ++answered_count) {
    sent_size += client.send_some(std::string_view(requests).substr(sent_size));
    if (sent_size == requests.size()) break;
    ASSERT_EQ(client.receive().content, numbered_document(answered_count)) << answered_count;
  }
  client.finish_sending();
  pause_for(Milliseconds{100});
  for (; answered_count < kCount; ++answered_count) {
    ASSERT_EQ(client.receive().content, numbered_document(answered_count)) << answered_count;
  }
  EXPECT_EQ(client.wait_for_end(), End::finished);
  EXPECT_EQ(client.received(), "");
}

TEST_F(Delivery, HalfClosedInsideARequestIsAFault) {
  const std::string request = post(numbered_document(1));
  for (const std::size_t size : std::vector<std::size_t>{1, 20, request.size() - 4090, request.size() - 1}) {
    Client client(server_.port());
    client.send(std::string_view(request).substr(0, size));
    client.finish_sending();
    const End end = client.wait_for_end();
    EXPECT_EQ(end, End::finished) << size;
    EXPECT_TRUE(client.received().starts_with("HTTP/1.1 400 ")) << size << client.received();
  }
}

TEST_F(Delivery, HalfClosedAtOnceEndsWithoutAWord) {
  Client client(server_.port());
  client.finish_sending();
  EXPECT_EQ(client.wait_for_end(), End::finished);
  EXPECT_EQ(client.received(), "");
}

// C12
TEST_F(Delivery, PipelinedRequestsAreAnsweredInOrder) {
  for (const std::size_t count : std::vector<std::size_t>{3, 64, 400, 900}) {
    Client client(server_.port());
    std::string requests;
    for (std::size_t number = 0; number < count; ++number) requests += post(numbered_document(number, 100));
    client.send(requests);
    for (std::size_t number = 0; number < count; ++number) {
      ASSERT_EQ(client.receive().content, numbered_document(number, 100)) << number << " of " << count;
    }
    EXPECT_EQ(client.received(), "");
  }
}

TEST_F(Delivery, PipelinedRequestsOfAllKinds) {
  Client client(server_.port());
  const std::string large = numbered_document(5, 65'536);
  client.send(std::string(kGet) + post("{]") + post_chunked("{}", 1) + std::string(kHealthCheck) +
              post(large) + "HEAD / HTTP/1.1\r\nHost: test\r\n\r\n" +
              "OPTIONS * HTTP/1.1\r\nHost: test\r\n\r\n" + post("null"));
  EXPECT_EQ(client.receive().content, kHello);
  EXPECT_EQ(client.receive().status, 400);
  EXPECT_EQ(client.receive().content, R"({"colors":null})");
  EXPECT_EQ(client.receive().content, R"({"status":"ok"})");
  EXPECT_EQ(client.receive().content, large);
  EXPECT_EQ(client.receive(false).status, 200);
  EXPECT_EQ(client.receive().status, 204);
  EXPECT_EQ(client.receive().content, R"({"colors":null})");
}

TEST_F(Delivery, CompleteRequestIsAnsweredWhileTheNextHasOnlyBegun) {
  Client client(server_.port());
  const std::string second = post(numbered_document(2));
  client.send(post(numbered_document(1)) + second.substr(0, second.size() / 2));
  EXPECT_EQ(client.receive().content, numbered_document(1));
  client.send(std::string_view(second).substr(second.size() / 2));
  EXPECT_EQ(client.receive().content, numbered_document(2));
}

TEST_F(Delivery, NothingIsAnsweredAfterClose) {
  Client client(server_.port());
  client.send(post(numbered_document(1)) + post(numbered_document(2), "Connection: close\r\n") +
              post(numbered_document(3)));
  EXPECT_EQ(client.receive().content, numbered_document(1));
  const Response last = client.receive();
  EXPECT_EQ(last.content, numbered_document(2));
  EXPECT_TRUE(last.says_close());
  EXPECT_EQ(client.wait_for_end(), End::finished);
  EXPECT_EQ(client.received(), "");
}

TEST_F(Delivery, NothingIsAnsweredAfterABadHead) {
  Client client(server_.port());
  client.send(post(numbered_document(1)) + "BAD\x01REQUEST\r\n\r\n" + post(numbered_document(3)));
  EXPECT_EQ(client.receive().content, numbered_document(1));
  const Response last = client.receive();
  EXPECT_EQ(last.status, 400);
  EXPECT_TRUE(last.says_close());
  EXPECT_EQ(client.wait_for_end(), End::finished);
  EXPECT_EQ(client.received(), "");
}

/// Sends numbered requests and checks the answers that come, without ever waiting on one for the other.
class Flood {
 public:
  static constexpr std::size_t kDocumentSize = 4096;

  explicit Flood(Client& client) : client_(client) {}

  [[nodiscard]] std::size_t sent_size() const noexcept { return sent_size_; }
  [[nodiscard]] std::size_t sent_count() const noexcept { return sent_count_; }
  [[nodiscard]] std::size_t answered_count() const noexcept { return answered_count_; }

  // Whether the kernel took anything.
  bool send_some() {
    if (pending_.empty()) {
      pending_ = post(numbered_document(sent_count_, kDocumentSize));
      ++sent_count_;
    }
    const std::size_t size = client_.send_some(pending_);
    pending_.erase(0, size);
    sent_size_ += size;
    return size > 0;
  }
  // Sends until nothing has been taken for a while, or until this much has.
  void send_until_blocked(std::size_t size_max) {
    Clock::time_point moved = Clock::now();
    while (sent_size_ < size_max && elapsed_since(moved) < Milliseconds{1000}) {
      if (send_some()) {
        moved = Clock::now();
      } else {
        pause_for(Milliseconds{5});
      }
    }
  }
  // The rest of the last request that has begun.
  bool has_unfinished() const noexcept { return !pending_.empty(); }

  // Whether the next answer is the right one.
  bool receive_one() {
    const Response response = client_.receive();
    return response.status == 200 && response.content == numbered_document(answered_count_++, kDocumentSize);
  }

 private:
  Client& client_;
  std::string pending_;
  std::size_t sent_size_ = 0;
  std::size_t sent_count_ = 0;
  std::size_t answered_count_ = 0;
};

// C11: a client that asks and asks and reads nothing costs no more than its queue, and holds up nobody.
TEST_F(Delivery, ClientThatDoesNotReadIsNotReadFrom) {
  constexpr std::size_t kSizeMax = 64U << 20;
  expect_service();
  const std::size_t size_before = resident_size(server_.pid());
  Client client(server_.port());
  Flood flood(client);
  flood.send_until_blocked(kSizeMax);
  if (!kIsSanitized) {
    EXPECT_LT(resident_size_max(server_.pid()), size_before + (8U << 20));
  }
  expect_service();
  // The kernel may keep up to tens of megabytes; the rest is sent while the answers are read.
  while (flood.sent_size() < kSizeMax || flood.has_unfinished()) {
    const bool is_answer_due = flood.answered_count() + 1 < flood.sent_count();
    ASSERT_TRUE(!is_answer_due || flood.receive_one()) << flood.answered_count();
    if (flood.sent_size() < kSizeMax || flood.has_unfinished()) (void)flood.send_some();
  }
  while (flood.answered_count() < flood.sent_count())
    ASSERT_TRUE(flood.receive_one()) << flood.answered_count();
  EXPECT_EQ(client.received(), "");
  if (!kIsSanitized) {
    EXPECT_LT(resident_size_max(server_.pid()), size_before + (8U << 20));
  }
}

// Short writes, many of them: small segments into a small window.
TEST_F(Delivery, ShortWritesLoseNothing) {
  Client client(server_.port(), {.receive_buffer_size = 4096, .segment_size_max = 536});
  constexpr std::size_t kCount = 250;
  std::string requests;
  for (std::size_t number = 0; number < kCount; ++number) requests += post(numbered_document(number));
  std::size_t sent_size = 0;
  for (std::size_t number = 0; number < kCount; ++number) {
    sent_size += client.send_some(std::string_view(requests).substr(sent_size));
    if (number == 0) pause_for(Milliseconds{100});
    ASSERT_EQ(client.receive().content, numbered_document(number)) << number;
  }
  EXPECT_EQ(client.received(), "");
}

TEST_F(Delivery, LargeAnswerThroughASmallWindow) {
  Client client(server_.port(), {.receive_buffer_size = 16'384});
  const std::string document = numbered_document(1, 1'000'000);
  client.send(post(document) + post(numbered_document(2)));
  EXPECT_EQ(client.receive().content, document);
  EXPECT_EQ(client.receive().content, numbered_document(2));
}

TEST_F(Delivery, OthersAreServedWhileManyAreHalfway) {
  const std::string request = post(numbered_document(1));
  std::vector<Client> clients;
  for (std::size_t number = 0; number < 64; ++number) {
    clients.emplace_back(server_.port())
        .send(std::string_view(request).substr(0, 1 + number * request.size() / 64));
  }
  for (int round = 0; round < 20; ++round) expect_service();
  for (std::size_t number = 0; number < 64; ++number) {
    clients[number].send(std::string_view(request).substr(1 + number * request.size() / 64));
    EXPECT_EQ(clients[number].receive().content, numbered_document(1));
  }
}

TEST_F(Delivery, ManyConnectionsAtOnce) {
  std::vector<Client> clients;
  for (std::size_t number = 0; number < 300; ++number) {
    clients.emplace_back(server_.port()).send(post(numbered_document(number)));
  }
  for (std::size_t number = 0; number < 300; ++number) {
    ASSERT_EQ(clients[number].receive().content, numbered_document(number));
  }
}

}  // namespace
}  // namespace rest_echo::e2e
