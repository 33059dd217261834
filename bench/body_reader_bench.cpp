// Reading a Body, and reading and writing it, beside a bare DOM parse by simdjson of the same octets.

#include "rest_echo/json/body_reader.hpp"

#include <benchmark/benchmark.h>
#include <simdjson.h>

#include <vector>

#include "json_text.hpp"
#include "rest_echo/json/body_writer.hpp"

namespace {

using namespace rest_echo::json;

/// The reference body for 0, else a body of that size.
PaddedText text_for(const benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  return PaddedText(size == 0 ? reference_text() : text_of_size(size));
}

void count_octets(benchmark::State& state, std::string_view text) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(text.size()));
}

void dom_parse(benchmark::State& state) {
  const PaddedText padded = text_for(state);
  const std::string_view text = padded.view();
  simdjson::dom::parser parser;
  for (auto _ : state) {
    simdjson::dom::element document;
    if (parser.parse(text.data(), text.size(), false).get(document) != simdjson::SUCCESS) {
      state.SkipWithError("refused");
      break;
    }
    benchmark::DoNotOptimize(document);
  }
  count_octets(state, text);
}

void read(benchmark::State& state) {
  const PaddedText padded = text_for(state);
  BodyReader reader;
  Body body;
  for (auto _ : state) {
    if (!reader.read(padded.view(), body)) {
      state.SkipWithError("refused");
      break;
    }
    benchmark::DoNotOptimize(body);
  }
  count_octets(state, padded.view());
}

void read_write(benchmark::State& state) {
  const PaddedText padded = text_for(state);
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
  count_octets(state, padded.view());
}

BENCHMARK(dom_parse)->Arg(0)->Arg(1 << 20)->RangeMultiplier(8)->Range(1 << 10, 16 << 20);
BENCHMARK(read)->Arg(0)->Arg(1 << 20)->RangeMultiplier(8)->Range(1 << 10, 16 << 20);
BENCHMARK(read_write)->Arg(0)->Arg(1 << 20)->RangeMultiplier(8)->Range(1 << 10, 16 << 20);

}  // namespace
