// Writing a Body, beside a writer that takes one octet at a time.

#include "rest_echo/json/body_writer.hpp"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>
#include <vector>

#include "json_text.hpp"
#include "rest_echo/json/body_reader.hpp"

namespace {

using namespace rest_echo::json;

/// A Body with the octets and the reader that its strings view.
struct ReadBody {
  explicit ReadBody(std::string octets) : text(std::move(octets)) {
    if (reader.read(text.view(), body)) return;
    std::cerr << "the body was refused\n";
    std::exit(1);
  }
  PaddedText text;
  BodyReader reader;
  Body body;
};

char* write_octets(std::string_view text, char* out) {
  for (const char octet : text) *out++ = octet;
  return out;
}

char* write_escaped_octets(std::string_view text, char* out) {
  for (const char octet : text) {
    if (octet == '"' || octet == '\\') *out++ = '\\';
    *out++ = octet;
  }
  return out;
}

char* write_member(std::string_view name, std::string_view string, char* out) {
  if (string.empty()) return out;
  out = write_octets(name, out);
  out = write_escaped_octets(string, out);
  return write_octets("\",", out);
}

char* write_decimal(std::int64_t number, char* out) {
  char digits[20];
  int size = 0;
  do {
    digits[size++] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number > 0);
  while (size > 0) *out++ = digits[--size];
  return out;
}

/// Enough of a writer for the reference body.
char* write_naively(const Body& body, char* out) {
  out = write_octets("{\"colors\":[", out);
  for (const Color& color : body.colors()) {
    *out++ = '{';
    out = write_member("\"color\":\"", color.color, out);
    out = write_member("\"category\":\"", color.category, out);
    out = write_member("\"type\":\"", color.type, out);
    out = write_octets("\"code\":{\"rgba\":[", out);
    for (const std::int64_t number : body.rgba(color.code)) {
      out = write_decimal(number, out);
      *out++ = ',';
    }
    out[-1] = ']';
    *out++ = ',';
    out = write_member("\"hex\":\"", color.code.hex, out);
    out[-1] = '}';
    out = write_octets("},", out);
  }
  out[-1] = ']';
  *out++ = '}';
  return out;
}

void write(benchmark::State& state) {
  const ReadBody read(reference_text());
  std::vector<char> out(body_text_size_max(read.text.view().size()));
  for (auto _ : state) {
    benchmark::DoNotOptimize(write_body(read.body, out.data()));
    benchmark::ClobberMemory();
  }
}

void write_naive(benchmark::State& state) {
  const ReadBody read(reference_text());
  std::vector<char> out(body_text_size_max(read.text.view().size()));
  for (auto _ : state) {
    benchmark::DoNotOptimize(write_naively(read.body, out.data()));
    benchmark::ClobberMemory();
  }
}

/// One escape anywhere makes the writer look at every string.
void write_with_escape(benchmark::State& state) {
  std::string text = reference_text();
  text.replace(text.find("black"), 1, "\\u0062");
  const ReadBody read(text);
  std::vector<char> out(body_text_size_max(read.text.view().size()));
  for (auto _ : state) {
    benchmark::DoNotOptimize(write_body(read.body, out.data()));
    benchmark::ClobberMemory();
  }
}

BENCHMARK(write);
BENCHMARK(write_naive);
BENCHMARK(write_with_escape);

}  // namespace
