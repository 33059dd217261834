#include "rest_echo/echo/access_log.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <iterator>

namespace rest_echo::echo {

void AccessLog::set_time(std::time_t seconds_since_epoch) {
  if (seconds_since_epoch == seconds_) return;
  seconds_ = seconds_since_epoch;
  const std::tm utc = fmt::gmtime(seconds_);
  time_text_ = format_ == Format::text ? fmt::format("{:%d/%b/%Y:%H:%M:%S} +0000", utc)
                                       : fmt::format("{:%Y-%m-%dT%H:%M:%S}Z", utc);
}

void AccessLog::add(std::string_view client, std::string_view request_line,
                    const http::ResponseWriter::Written& written) {
  const int status = static_cast<int>(written.status);
  if (format_ == Format::text) {  // the common log format
    fmt::format_to(std::back_inserter(lines_), "{} - - [{}] \"", client, time_text_);
    append_escaped(request_line.empty() ? "-" : request_line);
    fmt::format_to(std::back_inserter(lines_), "\" {} {}\n", status, written.content_size);
  } else {
    fmt::format_to(std::back_inserter(lines_), R"({{"time":"{}","client":"{}","request":")", time_text_,
                   client);
    append_escaped(request_line);
    fmt::format_to(std::back_inserter(lines_),
                   R"(","status":{},"size":{}}})"
                   "\n",
                   status, written.content_size);
  }
}

// Octets that are not printable ASCII: `\xhh` in text, as the common log format has it; in JSON, the code
// point of the same number.
void AccessLog::append_escaped(std::string_view text) {
  for (char octet : text.substr(0, kRequestLineSizeMax)) {
    if (octet == '"' || octet == '\\') {
      lines_ += {'\\', octet};
    } else if (octet >= ' ' && octet <= '~') {
      lines_ += octet;
    } else {
      const auto number = static_cast<unsigned char>(octet);
      lines_ += format_ == Format::text ? fmt::format("\\x{:02x}", number) : fmt::format("\\u{:04x}", number);
    }
  }
  if (text.size() > kRequestLineSizeMax) lines_ += "...";
}

}  // namespace rest_echo::echo
