#include "rest_echo/net/signals.hpp"

#include <fcntl.h>
#include <sys/signalfd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace rest_echo::net {

bool has_controlling_terminal() noexcept {
  return UniqueFd(::open("/dev/tty", O_RDONLY | O_CLOEXEC)).is_open();
}

Signals::Signals(std::initializer_list<int> signals) {
  sigset_t set;
  ::sigemptyset(&set);
  for (int signal : signals) ::sigaddset(&set, signal);
  if (::sigprocmask(SIG_BLOCK, &set, nullptr) != 0) {
    throw std::system_error(errno, std::generic_category(), "sigprocmask");
  }
  fd_ = UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd_.is_open()) throw std::system_error(errno, std::generic_category(), "signalfd");
}

std::optional<int> Signals::take() noexcept {
  signalfd_siginfo taken{};
  if (::read(fd_.get(), &taken, sizeof taken) != static_cast<ssize_t>(sizeof taken)) return std::nullopt;
  return static_cast<int>(taken.ssi_signo);
}

}  // namespace rest_echo::net
