// Runs a fuzz target on the files of its corpus and on a fixed set of mutations of each: what a compiler
// without libFuzzer can do. Arguments: directories.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/cutting.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* octets, std::size_t size);

namespace {

using rest_echo::test::Random;

constexpr int kMutationCount = 100;

std::vector<std::string> read_files(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.is_regular_file() && !entry.path().filename().string().starts_with('.'))
      paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return texts;
}

void run(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

/// Changes, drops, repeats or inserts something, once or a few times.
std::string mutate(std::string text, const std::vector<std::string>& others, Random& random) {
  for (std::size_t count = 1 + random.below(4); count > 0; --count) {
    const std::size_t offset = random.below(text.size() + 1);
    const std::size_t size = std::min(text.size() - offset, random.below(std::size_t{1} << random.below(8)));
    const std::string& other = others[random.below(others.size())];
    switch (random.below(6)) {
      case 0: text.insert(offset, 1, static_cast<char>(random.below(256))); break;
      case 1: text.erase(offset, size); break;
      case 2: text.insert(offset, text.substr(offset, size)); break;
      case 3: text.insert(offset, other, random.below(other.size() + 1), size); break;
      case 4: text.insert(offset, 1, "\r\n\t ,;:\"0fF"[random.below(11)]); break;
      case 5:
        if (offset < text.size()) text[offset] = static_cast<char>(text[offset] ^ (1 << random.below(8)));
        break;
    }
  }
  return text;
}

}  // namespace

int main(int argument_count, char** arguments) {
  std::size_t count = 0;
  for (int i = 1; i < argument_count; ++i) {
    const std::vector<std::string> texts = read_files(arguments[i]);
    Random random(1);
    for (const std::string& text : texts) {
      run(text);
      for (int k = 0; k < kMutationCount; ++k) run(mutate(text, texts, random));
      count += 1 + kMutationCount;
    }
  }
  std::printf("%zu inputs\n", count);
  return count == 0 ? 1 : 0;
}
