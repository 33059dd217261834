// Reads our own sources: a file includes its own layer and lower ones, never one above.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// What each layer may include besides itself.
const std::map<std::string, std::vector<std::string>, std::less<>> kMayInclude = {
    {"bytes", {}},
    {"http", {"bytes"}},
    {"json", {"bytes"}},
    {"echo", {"bytes", "http", "json"}},
    {"net", {"bytes", "http", "json", "echo"}},
    {"cluster", {"bytes", "http", "json", "echo", "net"}},
    {"app", {"bytes", "http", "json", "echo", "net", "cluster"}},
};

constexpr std::string_view kPrefix = "rest_echo/";

struct Include {
  int line_number;
  std::string path;
};

/// The files of ours: named in quotes, or in angle brackets with our prefix.
std::vector<Include> find_includes(std::istream& source) {
  std::vector<Include> includes;
  std::string line;
  for (int number = 1; std::getline(source, line); ++number) {
    std::string_view rest = line;
    const auto skip_blanks = [&rest] {
      rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    };
    skip_blanks();
    if (!rest.starts_with('#')) continue;
    rest.remove_prefix(1);
    skip_blanks();
    if (!rest.starts_with("include")) continue;
    const std::size_t first = rest.find_first_of("\"<");
    const std::size_t last = rest.find_last_of("\">");
    if (first >= last) continue;
    const std::string_view path = rest.substr(first + 1, last - first - 1);
    if (rest[first] == '"' || path.starts_with(kPrefix)) includes.push_back({number, std::string(path)});
  }
  return includes;
}

/// Why a file of `layer` in `directory` may not include `path`, or nothing.
std::optional<std::string> find_offence(const std::string& layer, const fs::path& directory,
                                        std::string path) {
  if (!path.starts_with(kPrefix)) {
    // A private header beside the source; nothing else may be reached without the layer's name.
    if (path.find('/') == std::string::npos && fs::exists(directory / path)) return std::nullopt;
    return "neither " + std::string(kPrefix) + "LAYER/ nor a file beside it";
  }
  path.erase(0, kPrefix.size());
  const std::string included = path.substr(0, path.find('/'));
  if (included == layer) return std::nullopt;
  const std::vector<std::string>& allowed = kMayInclude.at(layer);
  if (std::ranges::find(allowed, included) != allowed.end()) return std::nullopt;
  return layer + " may not include " + included;
}

TEST(Layering, NoIncludePointsUpward) {
  const fs::path root = REST_ECHO_SOURCE_DIR;
  std::map<std::string, int> file_count;
  for (const fs::path& top : {root / "include/rest_echo", root / "src"}) {
    for (const auto& entry : fs::recursive_directory_iterator(top)) {
      const fs::path& path = entry.path();
      if (path.extension() != ".hpp" && path.extension() != ".cpp") continue;
      if (path == root / "src/main.cpp") continue;  // wires all of them
      const std::string layer = fs::relative(path, top).begin()->string();
      ASSERT_TRUE(kMayInclude.contains(layer)) << path << " is in no layer";
      ++file_count[layer];
      std::ifstream source(path);
      for (const Include& include : find_includes(source)) {
        const auto offence = find_offence(layer, path.parent_path(), include.path);
        EXPECT_FALSE(offence) << path.string() << ':' << include.line_number << ": " << *offence;
      }
    }
  }
  for (const auto& [layer, allowed] : kMayInclude) EXPECT_GT(file_count[layer], 0) << layer;
}

TEST(Layering, HttpAndJsonNeverMeet) {
  EXPECT_TRUE(find_offence("http", {}, "rest_echo/json/body.hpp"));
  EXPECT_TRUE(find_offence("json", {}, "rest_echo/http/field.hpp"));
}

TEST(Layering, KnowsEveryWayToWriteAnInclude) {
  std::istringstream source(
      "#include \"rest_echo/net/socket.hpp\"\n"
      "#include <vector>\n"
      "  #  include \"rest_echo/app/options.hpp\"  // why\n"
      "// #include \"rest_echo/net/poller.hpp\"\n"
      "#include \"../net/poller.hpp\"\n"
      "#include <rest_echo/net/poller.hpp>\n");
  const std::vector<Include> includes = find_includes(source);
  ASSERT_EQ(includes.size(), 4U);
  EXPECT_EQ(includes[1].line_number, 3);
  for (const Include& include : includes) EXPECT_TRUE(find_offence("echo", {}, include.path)) << include.path;
  EXPECT_FALSE(find_offence("echo", {}, "rest_echo/http/field.hpp"));
  EXPECT_FALSE(find_offence("echo", {}, "rest_echo/echo/service.hpp"));
  EXPECT_TRUE(find_offence("echo", {}, "rest_echo/elsewhere/a.hpp"));
}

}  // namespace
