// What reading costs: no allocation once warm, and memory bounded by the text.

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>

#include "json/answer_table.hpp"
#include "support/allocation_count.hpp"

namespace rest_echo::json {
namespace {

using namespace std::string_literals;

/// Pages that are touched for reasons of their own.
constexpr std::size_t kSlackSize = std::size_t{128} << 10;

/// Resident memory of this process.
std::size_t resident_size() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total_pages = 0;
  std::size_t resident_pages = 0;
  statm >> total_pages >> resident_pages;
  return resident_pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// The pages that are written to while a text is read, counted by what a process gains.
class Growth {
 public:
  Growth() : before_(resident_size()) {}
  [[nodiscard]] std::size_t size() const {
    const std::size_t now = resident_size();
    return now > before_ ? now - before_ : 0;
  }

 private:
  std::size_t before_;
};

std::string body_of(std::string_view unit, std::size_t size) {
  return R"({"colors":[)"s + repeat(unit, size / unit.size()) + "{}]}";
}

/// Texts that cost most for each octet, in one way or another.
std::vector<std::string> costly_bodies(std::size_t size) {
  return {
      body_of("{},", size),
      body_of("null,", size),
      body_of(R"({"color":""},)", size),
      body_of(R"({"code":{"rgba":[1,2,3,4,5]}},)", size),
      R"({"colors":[{"code":{"rgba":[)"s + repeat("1,", size / 2) + "1]}}]}",
      R"({"colors":[{"code":{)"s + repeat(R"("rgba":[1,2,3,4,5],)", size / 19) + R"("hex":""}}]})",
      "{"s + repeat(R"("colors":[{},{},{},{},{}],)", size / 26) + R"("a":1})",
      R"({"colors":[{)"s + repeat(R"("color":"\n",)", size / 13) + R"("type":""}]})",
      R"({"colors":[{"color":")"s + repeat("\\u0000", size / 6) + R"("}]})",
      R"({"x":[)"s + repeat("[],", size / 3) + "0]}",
  };
}

TEST(Storage, IsNotAllocatedOnceWarm) {
  std::vector<std::string> texts = costly_bodies(4000);
  texts.emplace_back("[1,2");
  texts.emplace_back("\xFF");
  BodyReader reader;
  DocumentRewriter rewriter;
  Body body;
  GuardedText text_space;
  GuardedRoom out_space;
  const char* end = nullptr;
  const auto read_all = [&] {
    for (const std::string& text : texts) {
      const std::string_view placed = text_space.place(text);
      char* out = out_space.take(body_text_size_max(8192));
      if (reader.read(placed, body)) end = write_body(body, out);
      end = rewriter.rewrite(placed, out);
    }
  };
  read_all();
  const std::size_t before = test::allocation_count().taken;
  for (int round = 0; round < 1000; ++round) read_all();
  EXPECT_EQ(test::allocation_count().taken, before);
}

TEST(Storage, OfABodyIsBoundedByTheText) {
  if (REST_ECHO_HAS_SANITIZER) GTEST_SKIP() << "sanitizers keep memory of their own";
  mallopt(M_MMAP_THRESHOLD, 128 << 10);  // large storage is mapped, so that giving it back shows
  constexpr std::size_t kSize = std::size_t{1} << 20;
  for (const std::string& text : costly_bodies(kSize)) {
    GuardedText text_space;
    GuardedRoom out_space;
    const std::string_view placed = text_space.place(text);
    char* out = out_space.take(body_text_size_max(text.size()));
    const Growth growth;
    BodyReader reader;
    Body body;
    ASSERT_TRUE(reader.read(placed, body)) << text.substr(0, 60);
    ASSERT_NE(write_body(body, out), nullptr);
    EXPECT_LE(growth.size() + 4 * text.size(), 48 * text.size()) << text.substr(0, 60);
    EXPECT_TRUE(reader.storage_is_large());
    EXPECT_TRUE(body.storage_is_large());
    reader.release_spare();
    body.release_spare();
    EXPECT_FALSE(reader.storage_is_large());
    EXPECT_FALSE(body.storage_is_large());
    EXPECT_LE(growth.size(), kSlackSize) << text.substr(0, 60);
    ASSERT_TRUE(reader.read(placed, body)) << "after a release";
  }
}

TEST(Storage, OfARewriterIsBoundedByTheText) {
  if (REST_ECHO_HAS_SANITIZER) GTEST_SKIP() << "sanitizers keep memory of their own";
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  constexpr std::size_t kSize = std::size_t{1} << 20;
  std::vector<std::string> texts = costly_bodies(kSize);
  texts.push_back("["s + repeat("0,", kSize / 2) + "0]");
  texts.push_back("["s + repeat("[[[],[[", kSize / 7 / 1000) + "0");
  texts.push_back("\""s + repeat("\\n", kSize / 2) + "\"");
  texts.push_back("["s + repeat("\"\\n\",", kSize / 5) + "0]");
  for (const std::string& text : texts) {
    GuardedText text_space;
    GuardedRoom out_space;
    const std::string_view placed = text_space.place(text);
    char* out = out_space.take(document_text_size_max(text.size()));
    const Growth growth;
    DocumentRewriter rewriter;
    const char* end = rewriter.rewrite(placed, out);
    EXPECT_LE(growth.size() + text.size(), 6 * text.size() + kSlackSize)
        << text.substr(0, 60) << (end == nullptr ? " (refused)" : "");
    rewriter.release_spare();
    EXPECT_FALSE(rewriter.storage_is_large());
    EXPECT_LE(growth.size(), kSlackSize) << text.substr(0, 60);
  }
}

TEST(Storage, IsSmallForUsualBodies) {
  if (REST_ECHO_HAS_SANITIZER) GTEST_SKIP() << "sanitizers keep memory of their own";
  const std::string text = body_of(R"({"color":"a","code":{"rgba":[1,2,3,4]}},)", 4000);
  GuardedText text_space;
  GuardedRoom out_space;
  const std::string_view placed = text_space.place(text);
  char* out = out_space.take(body_text_size_max(text.size()));
  const Growth growth;
  BodyReader reader;
  DocumentRewriter rewriter;
  Body body;
  ASSERT_TRUE(reader.read(placed, body));
  ASSERT_NE(write_body(body, out), nullptr);
  ASSERT_NE(rewriter.rewrite(placed, out), nullptr);
  EXPECT_LE(growth.size(), kSlackSize);
  EXPECT_FALSE(reader.storage_is_large());
  EXPECT_FALSE(body.storage_is_large());
  EXPECT_FALSE(rewriter.storage_is_large());
}

TEST(Storage, ReleaseIsHarmlessWhenNothingWasGrown) {
  BodyReader reader;
  DocumentRewriter rewriter;
  Body body;
  const std::size_t before = test::allocation_count().taken;
  for (int round = 0; round < 1000; ++round) {
    reader.release_spare();
    rewriter.release_spare();
    body.release_spare();
  }
  EXPECT_EQ(test::allocation_count().taken, before);
}

}  // namespace
}  // namespace rest_echo::json
