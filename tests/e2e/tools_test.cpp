// The tools that people point at the server.

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "e2e/client.hpp"
#include "e2e/requests.hpp"
#include "e2e/server.hpp"

namespace rest_echo::e2e {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A file that is gone when its owner is.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content) {
    const int fd = ::mkstemp(path_.data());
    if (fd != -1) ::close(fd);
    std::ofstream(path_, std::ios::binary) << content;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::remove(path_.c_str()); }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_ = testing::TempDir() + "rest_echo_XXXXXX";
};

class Curl : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_program("curl")) GTEST_SKIP() << "no curl here";
  }
  // Waits for 100 Continue longer than it is given in all: without it there is no answer.
  Finished curl(std::vector<std::string> arguments, const std::string& input_file = "") {
    std::vector<std::string> command{"curl",       "--silent", "--show-error",        "--noproxy", "*",
                                     "--max-time", "40",       "--expect100-timeout", "60"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run({.command = command, .input_file = input_file});
  }

  Server server_{{"--max-body", "8M"}};
  const std::string document_file_ = source_file("body.json");
  const std::string answer_ = read_file(source_file("tests/e2e/reference_answer.json"));
};

TEST_F(Curl, PostsAFile) {
  const Finished finished = curl({"--data-binary", "@" + document_file_, server_.url()});
  EXPECT_EQ(finished.status, 0) << finished.errors;
  EXPECT_EQ(finished.output, answer_);
}

TEST_F(Curl, PostsAFileInChunks) {
  const Finished finished =
      curl({"-H", "Transfer-Encoding: chunked", "--data-binary", "@" + document_file_, server_.url()});
  EXPECT_EQ(finished.status, 0) << finished.errors;
  EXPECT_EQ(finished.output, answer_);
}

TEST_F(Curl, UploadsItsInput) {
  const Finished finished = curl({"-T", "-", server_.url()}, document_file_);
  EXPECT_EQ(finished.status, 0) << finished.errors;
  EXPECT_EQ(finished.output, answer_);
}

TEST_F(Curl, WaitsForContinueWhenAskedTo) {
  const Finished finished =
      curl({"-H", "Expect: 100-continue", "--data-binary", "@" + document_file_, server_.url()});
  EXPECT_EQ(finished.status, 0) << finished.errors;
  EXPECT_EQ(finished.output, answer_);
}

// Above a megabyte curl waits for it unasked.
TEST_F(Curl, PostsALargeFile) {
  const std::string document = numbered_document(1, 3'000'000);
  const TemporaryFile file(document);
  const Finished counted = curl({"--data-binary", "@" + file.path(), server_.url()});
  EXPECT_EQ(counted.status, 0) << counted.errors;
  EXPECT_TRUE(counted.output == document) << counted.output.substr(0, 300);
  const Finished chunked = curl({"-T", "-", server_.url()}, file.path());
  EXPECT_EQ(chunked.status, 0) << chunked.errors;
  EXPECT_TRUE(chunked.output == document) << chunked.output.substr(0, 300);
}

TEST_F(Curl, GetsToKnowThatAFileIsTooLarge) {
  const TemporaryFile file(numbered_document(1, 9'000'000));
  for (const char* expectation : {"Expect: 100-continue", "Expect:"}) {
    SCOPED_TRACE(expectation);
    const Finished finished = curl({"-H", expectation, "--data-binary", "@" + file.path(), "--write-out",
                                    "%{http_code}", server_.url()});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_TRUE(finished.output.ends_with("413")) << finished.output;
  }
}

TEST_F(Curl, PostsNothing) {
  const Finished finished = curl({"-X", "POST", "--write-out", "%{http_code}", server_.url()});
  EXPECT_EQ(finished.status, 0) << finished.errors;
  EXPECT_TRUE(finished.output.ends_with("400")) << finished.output;
}

TEST_F(Curl, KeepsItsConnection) {
  const Finished finished =
      curl({"--write-out", "%{num_connects};", server_.url(), server_.url("/healthz"), server_.url("/x")});
  EXPECT_EQ(finished.output, R"(Hello World1;{"status":"ok"}0;Hello World0;)");
}

TEST_F(Curl, SpeaksToBothVersionsOfIp) {
  const std::string port = std::to_string(server_.port());
  EXPECT_EQ(curl({server_.url()}).output, kHello);
  if (!can_connect(server_.port(), "::1")) GTEST_SKIP() << "no IPv6 here";
  EXPECT_EQ(curl({"--globoff", "http://[::1]:" + port + "/"}).output, kHello);
}

TEST_F(Curl, GetsAHead) {
  const Finished finished = curl({"--head", server_.url()});
  EXPECT_EQ(finished.status, 0) << finished.errors;
  EXPECT_TRUE(contains(finished.output, "Content-Length: 11\r\n")) << finished.output;
}

// C08: it speaks HTTP/1.0 and hangs where keep-alive is not confirmed.
class ApacheBench : public testing::TestWithParam<bool> {};

TEST_P(ApacheBench, GetsEveryAnswer) {
  if (!has_program("ab")) GTEST_SKIP() << "no ab here";
  const Server server;
  std::vector<std::string> command{"ab", "-q",
                                   "-n", "300",
                                   "-c", "5",
                                   "-s", "20",
                                   "-p", source_file("body.json"),
                                   "-T", "application/json"};
  if (GetParam()) command.emplace_back("-k");
  command.push_back(server.url());
  const Finished finished = run({.command = command});
  EXPECT_EQ(finished.status, 0) << finished.errors;
  EXPECT_TRUE(contains(finished.output, "Complete requests:      300\n")) << finished.output;
  EXPECT_TRUE(contains(finished.output, "Failed requests:        0\n")) << finished.output;
  EXPECT_FALSE(contains(finished.output, "Non-2xx")) << finished.output;
  EXPECT_TRUE(contains(finished.output, "Document Length:        2200 bytes\n")) << finished.output;
  EXPECT_EQ(contains(finished.output, "Keep-Alive requests:    300\n"), GetParam()) << finished.output;
}
INSTANTIATE_TEST_SUITE_P(Tools, ApacheBench, testing::Bool(), [](const auto& tested) {
  return std::string(tested.param ? "KeepingAlive" : "Closing");
});

TEST(Wrk, SeesNoErrors) {
  if (!has_program("wrk")) GTEST_SKIP() << "no wrk here";
  const Server server;
  for (const std::string close : {"Accept: */*", "Connection: close"}) {
    SCOPED_TRACE(close);
    const Finished finished = run({.command = {"wrk", "-t1", "-c4", "-d1s", "--timeout", "20s", "-H", close,
                                               "-s", source_file("post.lua"), server.url()}});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_TRUE(contains(finished.output, "Requests/sec")) << finished.output;
    EXPECT_FALSE(contains(finished.output, "Non-2xx")) << finished.output;
    EXPECT_FALSE(contains(finished.output, "Socket errors")) << finished.output;
  }
}

}  // namespace
}  // namespace rest_echo::e2e
