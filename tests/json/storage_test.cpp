// What reading costs: no allocation once warm, and memory bounded by the text.

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <new>

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

TEST(Storage, ReleaseTakesNoMemory) {
  const std::string text = body_of("{},", 100'000);
  GuardedText text_space;
  GuardedRoom out_space;
  const std::string_view placed = text_space.place(text);
  char* out = out_space.take(document_text_size_max(text.size()));
  BodyReader reader;
  DocumentRewriter rewriter;
  Body body;
  ASSERT_TRUE(reader.read(placed, body));
  ASSERT_NE(rewriter.rewrite(placed, out), nullptr);
  test::fail_allocation_after(0);
  reader.release_spare();
  rewriter.release_spare();
  body.release_spare();
  EXPECT_EQ(test::fail_allocation_after(test::kNeverFail), 0U) << "memory was asked for";
  EXPECT_FALSE(reader.storage_is_large());
  EXPECT_TRUE(reader.read(placed, body));
  EXPECT_NE(rewriter.rewrite(placed, out), nullptr);
}

// Whichever allocation of a growth fails: the next texts, an empty one among them, are read as ever.
TEST(Storage, IsSoundAfterAFailedGrowth) {
  const std::string large = body_of(R"({"color":"\n","code":{"rgba":[1,2,3,4,5]}},)", 100'000);
  const std::string small = R"({"colors":[{"color":"\n"}]})";
  GuardedText large_space;
  GuardedText small_space;
  GuardedRoom out_space;
  const std::string_view placed_large = large_space.place(large);
  const std::string_view placed_small = small_space.place(small);
  char* out = out_space.take(document_text_size_max(large.size()));
  bool has_failed = true;
  for (std::size_t success_count = 0; has_failed; ++success_count) {
    SCOPED_TRACE(success_count);
    BodyReader reader;
    DocumentRewriter rewriter;
    Body body;
    test::fail_allocation_after(success_count);
    try {
      ASSERT_TRUE(reader.read(placed_large, body));
      ASSERT_NE(rewriter.rewrite(placed_large, out), nullptr);
    } catch (const std::bad_alloc&) {
      EXPECT_EQ(test::fail_allocation_after(test::kNeverFail), test::kNeverFail);
    }
    has_failed = test::fail_allocation_after(test::kNeverFail) == test::kNeverFail;
    ASSERT_LT(success_count, 100U);
    EXPECT_FALSE(reader.read(placed_small.substr(0, 0), body));
    EXPECT_EQ(rewriter.rewrite(placed_small.substr(0, 0), out), nullptr);
    ASSERT_TRUE(reader.read(placed_small, body));
    EXPECT_EQ(body.colors()[0].color, "\n");
    ASSERT_TRUE(reader.read(placed_large, body));
    EXPECT_NE(rewriter.rewrite(placed_large, out), nullptr);
  }
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
