#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>

#include "rest_echo/http/response_writer.hpp"

namespace rest_echo::echo {

/// One line for each answer, collected here until somebody writes them out. Whatever a peer sends, a line
/// stays one line: of the request line at most kRequestLineSizeMax octets are kept, and all but printable
/// ASCII is escaped.
class AccessLog {
 public:
  enum class Format : std::uint8_t { text, json };
  static constexpr std::size_t kRequestLineSizeMax = 512;
  /// No line is longer, so that it can be written to a pipe in one piece (PIPE_BUF).
  static constexpr std::size_t kLineSizeMax = 4096;

  explicit AccessLog(Format format) noexcept : format_(format) {}

  void set_time(std::time_t seconds_since_epoch);
  /// `client` is a numeric address; `request_line` is empty where there was none to be read.
  void add(std::string_view client, std::string_view request_line,
           const http::ResponseWriter::Written& written);

  [[nodiscard]] std::string_view lines() const noexcept { return lines_; }
  /// The first `size` octets of lines() have been written.
  void consume(std::size_t size) { lines_.erase(0, size); }

 private:
  void append_escaped(std::string_view text);

  Format format_;
  std::time_t seconds_ = -1;
  std::string time_text_;
  std::string lines_;
};

}  // namespace rest_echo::echo
