// One request from the octets received to the octets to send, everything but the network: the ceiling.

#include "rest_echo/echo/conversation.hpp"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "json_text.hpp"

namespace {

using namespace rest_echo;

/// The same octets are received again and again on one connection; time and octets are counted by request.
void converse(benchmark::State& state, const std::string& wire, std::size_t request_count, json::Mode mode) {
  echo::Workspace workspace({}, mode);
  echo::Conversation conversation;
  std::size_t sent_size = 0;
  for (auto _ : state) {
    wire.copy(conversation.receive_space(workspace).data(), wire.size());
    const std::size_t answered_count = conversation.received(wire.size(), workspace);
    if (answered_count != request_count || !workspace.out.unsent().starts_with("HTTP/1.1 200 OK\r\n")) {
      std::cerr << "a request was not answered\n";
      std::exit(1);
    }
    sent_size = workspace.out.size();
    benchmark::DoNotOptimize(workspace.out.unsent().data());
    workspace.out.clear();
  }
  conversation.abandon(workspace);
  const auto requests = static_cast<double>(state.iterations()) * static_cast<double>(request_count);
  state.counters["request"] =
      benchmark::Counter(requests, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(wire.size() + sent_size));
}

std::string post(const std::string& content) {
  return "POST / HTTP/1.1\r\nHost: localhost:3000\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(content.size()) + "\r\n\r\n" + content;
}

/// As the file is: one number on each line.
std::string body_json() {
  std::ifstream file(REST_ECHO_SOURCE_DIR "/body.json", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

constexpr const char* kGet = "GET / HTTP/1.1\r\nHost: localhost:3000\r\n\r\n";

void hello(benchmark::State& state) { converse(state, kGet, 1, json::Mode::typed); }
void hello_pipelined_16(benchmark::State& state) {
  std::string wire;
  for (int i = 0; i < 16; ++i) wire += kGet;
  converse(state, wire, 16, json::Mode::typed);
}
void echo_post_lua(benchmark::State& state) {
  converse(state, post(json::reference_text()), 1, json::Mode::typed);
}
void echo_post_lua_pipelined_8(benchmark::State& state) {
  std::string wire;
  for (int i = 0; i < 8; ++i) wire += post(json::reference_text());
  converse(state, wire, 8, json::Mode::typed);
}
void echo_post_lua_generic(benchmark::State& state) {
  converse(state, post(json::reference_text()), 1, json::Mode::generic);
}
void echo_body_json(benchmark::State& state) { converse(state, post(body_json()), 1, json::Mode::typed); }

BENCHMARK(hello);
BENCHMARK(hello_pipelined_16);
BENCHMARK(echo_post_lua);
BENCHMARK(echo_post_lua_pipelined_8);
BENCHMARK(echo_post_lua_generic);
BENCHMARK(echo_body_json);

}  // namespace
