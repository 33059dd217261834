// Reading the head of a request: wrk's, a browser's, and a browser's that comes in pieces.

#include "rest_echo/http/request_parser.hpp"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

namespace {

using namespace rest_echo::http;

// What wrk sends with post.lua, without the content.
constexpr std::string_view kWrkHead =
    "POST / HTTP/1.1\r\n"
    "Host: localhost:3000\r\n"
    "Content-Length: 4098\r\n"
    "Content-Type: application/json\r\n"
    "\r\n";

constexpr std::string_view kBrowserHead =
    "GET /palettes/42?sort=name&order=descending HTTP/1.1\r\n"
    "Host: palettes.example.org:3000\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\n"
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\n"
    "Accept-Language: en-GB,en;q=0.7,de;q=0.3\r\n"
    "Accept-Encoding: gzip, deflate, br, zstd\r\n"
    "Referer: https://palettes.example.org/palettes?page=7&sort=name\r\n"
    "Connection: keep-alive\r\n"
    "Cookie: session=c29tZSBzZXNzaW9uIHRva2VuIG9mIGEgdXNlcg; theme=dark; consent=necessary.statistics; "
    "seen=41\r\n"
    "Upgrade-Insecure-Requests: 1\r\n"
    "Sec-Fetch-Dest: document\r\n"
    "Sec-Fetch-Mode: navigate\r\n"
    "Priority: u=0, i\r\n"
    "\r\n";

void require(bool condition) {
  if (condition) return;
  std::cerr << "the head was not read\n";
  std::exit(1);
}

/// Reads `head` as it arrives in `piece_count` pieces.
void read_head(benchmark::State& state, std::string_view head, std::size_t piece_count) {
  const Limits limits;
  for (auto _ : state) {
    RequestParser parser(limits);
    RequestParser::Outcome outcome = RequestParser::Outcome::need_more;
    for (std::size_t piece = 1; piece <= piece_count; ++piece) {
      outcome = parser.parse_head(head.substr(0, head.size() * piece / piece_count));
    }
    require(outcome == RequestParser::Outcome::complete);
    benchmark::DoNotOptimize(parser);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(head.size()));
  state.SetItemsProcessed(state.iterations());
}

void wrk_head(benchmark::State& state) { read_head(state, kWrkHead, 1); }
void browser_head(benchmark::State& state) { read_head(state, kBrowserHead, 1); }
void browser_head_in_16_pieces(benchmark::State& state) { read_head(state, kBrowserHead, 16); }

void chunked_content(benchmark::State& state) {
  const Limits limits;
  std::string wire = "POST / HTTP/1.1\r\nHost: localhost:3000\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 4; ++i) wire += "400\r\n" + std::string(1024, 'c') + "\r\n";
  wire += "0\r\n\r\n";
  std::string octets;
  for (auto _ : state) {
    octets = wire;  // decoding is done in place
    RequestParser parser(limits);
    require(parser.parse_head(octets) == RequestParser::Outcome::complete);
    require(parser.parse_body(octets) == RequestParser::Outcome::complete);
    benchmark::DoNotOptimize(parser);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(wire.size()));
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(wrk_head);
BENCHMARK(browser_head);
BENCHMARK(browser_head_in_16_pieces);
BENCHMARK(chunked_content);

}  // namespace
