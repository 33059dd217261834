#pragma once

#include <cstddef>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rest_echo::e2e {

/// A line of the access log, read back.
struct LogLine {
  std::string client;
  std::time_t seconds = 0;  ///< since the epoch
  std::string request;      ///< the octets that were sent; "" where the log has none
  int status = 0;
  std::size_t size = 0;
};

/// Strictly: exactly the common log format, or one JSON object with exactly these members. Nothing else.
[[nodiscard]] std::optional<LogLine> read_text_line(std::string_view line);
[[nodiscard]] std::optional<LogLine> read_json_line(std::string_view line);
[[nodiscard]] inline std::optional<LogLine> read_line(std::string_view line, std::string_view format) {
  return format == "json" ? read_json_line(line) : read_text_line(line);
}

/// The lines of a server's output behind the one that says that it listens.
[[nodiscard]] std::vector<std::string> lines_since_listening(const std::string& output);

}  // namespace rest_echo::e2e
