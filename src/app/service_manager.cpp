#include "rest_echo/app/service_manager.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>

#include "rest_echo/app/environment.hpp"
#include "rest_echo/net/socket.hpp"
#include "rest_echo/net/unique_fd.hpp"

namespace rest_echo::app {
namespace {

long read_number(std::string_view text) {
  long number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? number : -1;
}

}  // namespace

void notify_service_manager(std::string_view state) {
  std::string path(environment_value("NOTIFY_SOCKET"));
  if (path.size() < 2 || (path[0] != '/' && path[0] != '@')) return;
  if (path[0] == '@') path[0] = '\0';  // an abstract name
  const std::optional<net::SocketAddress> address = net::unix_address(path);
  if (!address) return;
  const net::UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  [[maybe_unused]] const ssize_t sent =
      ::sendto(fd.get(), state.data(), state.size(), MSG_NOSIGNAL, address->get(), address->size);
}

int take_listen_fd_count() noexcept {
  constexpr long kCountMax = 64;
  const bool is_ours = read_number(environment_value("LISTEN_PID")) == ::getpid();
  const long count = read_number(environment_value("LISTEN_FDS"));
  for (const char* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(name);
  return is_ours && count > 0 && count <= kCountMax ? static_cast<int>(count) : 0;
}

}  // namespace rest_echo::app
