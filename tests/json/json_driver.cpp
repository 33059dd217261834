// Answers documents for differential_test.py. Input: each document behind its size (4 octets, little endian).
// Output: for each document its answers in typed and in generic mode, each likewise behind its size.

#include <cstdint>
#include <cstdio>
#include <string>

#include "json/echo.hpp"

namespace {

using rest_echo::json::Echo;
using rest_echo::json::Mode;

bool read_exactly(char* octets, std::size_t size) { return std::fread(octets, 1, size, stdin) == size; }

void write_sized(const std::string& octets) {
  char size[4];
  for (unsigned i = 0; i < sizeof size; ++i) size[i] = static_cast<char>(octets.size() >> (8 * i) & 0xFF);
  std::fwrite(size, 1, sizeof size, stdout);
  std::fwrite(octets.data(), 1, octets.size(), stdout);
}

}  // namespace

int main() {
  static constexpr char kPaddings[] = {'\0', '}', ']', ',', '"', '7', ' ', 'P', '\\', '\xFF'};
  Echo echo;
  std::string text;
  for (std::size_t count = 0;; ++count) {
    unsigned char octets[4];
    if (!read_exactly(reinterpret_cast<char*>(octets), sizeof octets)) break;
    std::size_t size = 0;
    for (unsigned i = 0; i < sizeof octets; ++i) size |= static_cast<std::size_t>(octets[i]) << (8 * i);
    text.resize(size);
    if (!read_exactly(text.data(), text.size())) return 1;
    const char padding = kPaddings[count % sizeof kPaddings];
    write_sized(echo.answer(text, Mode::typed, padding));
    write_sized(echo.answer(text, Mode::generic, padding));
  }
  return 0;
}
