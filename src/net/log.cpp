#include "rest_echo/net/log.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <string>

namespace rest_echo::net {
namespace {

iovec part(std::string_view text) { return {const_cast<char*>(text.data()), text.size()}; }

}  // namespace

void log_line(std::string_view text) noexcept {
  const std::array<iovec, 3> parts{part("rest-echo: "), part(text), part("\n")};
  [[maybe_unused]] const ssize_t size = ::writev(STDERR_FILENO, parts.data(), parts.size());
}

UniqueFd open_line_output() {
  struct stat output {};
  if (::fstat(STDOUT_FILENO, &output) == 0 && S_ISFIFO(output.st_mode)) {
    UniqueFd fd(::open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    if (fd.is_open()) return fd;
  }
  return UniqueFd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
}

std::size_t write_lines(int fd, std::string_view lines, int wait_ms) noexcept {
  std::size_t done_size = 0;
  while (done_size < lines.size()) {
    const std::string_view rest = lines.substr(done_size);
    // As many lines as a pipe takes in one piece (PIPE_BUF).
    const std::size_t line_end = rest.substr(0, PIPE_BUF).rfind('\n');
    const std::string_view piece =
        rest.substr(0, line_end == std::string_view::npos ? rest.size() : line_end + 1);
    pollfd writable{.fd = fd, .events = POLLOUT, .revents = 0};
    if (::poll(&writable, 1, wait_ms) <= 0) return done_size;
    const ssize_t size = ::write(fd, piece.data(), piece.size());
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return done_size;
    if (size < 0) return lines.size();
    done_size += static_cast<std::size_t>(size);
  }
  return done_size;
}

}  // namespace rest_echo::net
