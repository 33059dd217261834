#include "rest_echo/app/service_manager.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdlib>

#include "rest_echo/app/environment.hpp"
#include "rest_echo/net/unique_fd.hpp"

namespace rest_echo::app {
namespace {

long read_number(std::string_view text) {
  long number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? number : -1;
}

}  // namespace

void notify_service_manager(std::string_view state) noexcept {
  const std::string_view path = environment_value("NOTIFY_SOCKET");
  sockaddr_un address{};
  if (path.size() < 2 || path.size() >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@')) return;
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, path.size());
  if (path[0] == '@') address.sun_path[0] = '\0';  // an abstract address
  const net::UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  [[maybe_unused]] const ssize_t sent = ::sendto(fd.get(), state.data(), state.size(), MSG_NOSIGNAL,
                                                 reinterpret_cast<const sockaddr*>(&address), size);
}

int take_listen_fd_count() noexcept {
  constexpr long kCountMax = 64;
  const bool is_ours = read_number(environment_value("LISTEN_PID")) == ::getpid();
  const long count = read_number(environment_value("LISTEN_FDS"));
  for (const char* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(name);
  return is_ours && count > 0 && count <= kCountMax ? static_cast<int>(count) : 0;
}

}  // namespace rest_echo::app
