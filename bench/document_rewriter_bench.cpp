// Rewriting any document, beside reading and writing the same octets as a Body.

#include "rest_echo/json/document_rewriter.hpp"

#include <benchmark/benchmark.h>

#include <vector>

#include "json_text.hpp"
#include "rest_echo/json/body_reader.hpp"
#include "rest_echo/json/body_writer.hpp"

namespace {

using namespace rest_echo::json;

void rewrite_text(benchmark::State& state, const PaddedText& padded) {
  DocumentRewriter rewriter;
  std::vector<char> out(document_text_size_max(padded.view().size()));
  for (auto _ : state) {
    const char* end = rewriter.rewrite(padded.view(), out.data());
    if (end == nullptr) {
      state.SkipWithError("refused");
      break;
    }
    benchmark::DoNotOptimize(end);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(padded.view().size()));
}

/// The reference body for 0, else a body of that size.
void rewrite(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  rewrite_text(state, PaddedText(size == 0 ? reference_text() : text_of_size(size)));
}

void typed_read_write(benchmark::State& state) {
  const PaddedText padded(reference_text());
  BodyReader reader;
  Body body;
  std::vector<char> out(body_text_size_max(padded.view().size()));
  for (auto _ : state) {
    if (!reader.read(padded.view(), body)) {
      state.SkipWithError("refused");
      break;
    }
    benchmark::DoNotOptimize(write_body(body, out.data()));
    benchmark::ClobberMemory();
  }
}

/// 1 MiB of what costs most for each octet.
void rewrite_repeated(benchmark::State& state, const char* open, const char* unit, const char* close) {
  std::string text = open;
  while (text.size() < std::size_t{1} << 20) text += unit;
  text += close;
  rewrite_text(state, PaddedText(text));
}

BENCHMARK(typed_read_write);
BENCHMARK(rewrite)->Arg(0)->RangeMultiplier(8)->Range(1 << 10, 16 << 20)->Arg(1 << 20);
BENCHMARK_CAPTURE(rewrite_repeated, one_string_of_escapes, "\"", "\\u0001", "\"");
BENCHMARK_CAPTURE(rewrite_repeated, short_strings_with_escapes, "[", "\"\\n\",", "0]");
BENCHMARK_CAPTURE(rewrite_repeated, empty_objects, "[", "{},", "0]");
BENCHMARK_CAPTURE(rewrite_repeated, numbers, "[", "-1.5e3,", "0]");

}  // namespace
