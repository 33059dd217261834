#include "rest_echo/net/log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <climits>

namespace rest_echo::net {
namespace {

// Scripts wait for the lines of the start: their reader gets a moment to make room.
constexpr int kPrintWaitMs = 200;

// No longer than a pipe takes in one piece.
void write_line(int standard_fd, std::string_view prefix, std::string_view text, int wait_ms) noexcept {
  fmt::basic_memory_buffer<char, PIPE_BUF> line;
  const std::size_t size_max = PIPE_BUF - prefix.size() - 1;
  line.append(prefix.data(), prefix.data() + prefix.size());
  line.append(text.data(), text.data() + std::min(text.size(), size_max));
  line.push_back('\n');
  LineOutput output(standard_fd);
  if (output.write({line.data(), line.size()}) == line.size() || wait_ms == 0) return;
  output.wait(wait_ms);
  [[maybe_unused]] const std::size_t size = output.write({line.data(), line.size()});
}

}  // namespace

LineOutput::LineOutput(int standard_fd) noexcept : standard_fd_(standard_fd) {
  struct stat output {};
  if (::fstat(standard_fd, &output) != 0) return;
  is_socket_ = S_ISSOCK(output.st_mode);
  if (!S_ISFIFO(output.st_mode) && !S_ISCHR(output.st_mode)) return;
  const char* const path = standard_fd == STDOUT_FILENO ? "/proc/self/fd/1" : "/proc/self/fd/2";
  own_ = UniqueFd(::open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

std::size_t LineOutput::write(std::string_view lines) noexcept {
  std::size_t done_size = 0;
  while (done_size < lines.size()) {
    const std::string_view rest = lines.substr(done_size);
    // As many lines as a pipe takes in one piece (PIPE_BUF).
    const std::size_t line_end = rest.substr(0, PIPE_BUF).rfind('\n');
    const std::string_view piece =
        rest.substr(0, line_end == std::string_view::npos ? rest.size() : line_end + 1);
    pollfd writable{.fd = fd(), .events = POLLOUT, .revents = 0};
    if (::poll(&writable, 1, 0) == 0) return done_size;
    const ssize_t size = is_socket_ ? ::send(fd(), piece.data(), piece.size(), MSG_DONTWAIT | MSG_NOSIGNAL)
                                    : ::write(fd(), piece.data(), piece.size());
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return done_size;
    if (size < 0) return lines.size();
    done_size += static_cast<std::size_t>(size);
  }
  return done_size;
}

void LineOutput::wait(int wait_ms) noexcept {
  pollfd writable{.fd = fd(), .events = POLLOUT, .revents = 0};
  (void)::poll(&writable, 1, wait_ms);
}

void print_line(std::string_view text) noexcept { write_line(STDOUT_FILENO, "", text, kPrintWaitMs); }

void log_line(std::string_view text) noexcept { write_line(STDERR_FILENO, "rest-echo: ", text, 0); }

}  // namespace rest_echo::net
