#include "rest_echo/net/acceptor.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "rest_echo/net/log.hpp"

namespace rest_echo::net {
namespace {

// How long accepting rests when the kernel has no descriptor for us.
constexpr std::int64_t kRestMs = 100;
constexpr std::int64_t kLogIntervalMs = 1'000;

bool is_out_of_resources(int error_number) {
  return error_number == EMFILE || error_number == ENFILE || error_number == ENOBUFS ||
         error_number == ENOMEM;
}

}  // namespace

Acceptor::Acceptor(std::vector<UniqueFd> listeners, Poller& poller)
    : poller_(&poller), listeners_(std::move(listeners)), logged_ms_(-kLogIntervalMs) {
  for (const UniqueFd& listener : listeners_) {
    if (!poller.add(listener.get(), Interest::readable_by_one)) {
      throw std::system_error(errno, std::generic_category(), "epoll_ctl");
    }
  }
}

bool Acceptor::owns(int fd) const noexcept {
  return std::ranges::any_of(listeners_, [fd](const UniqueFd& listener) { return listener.get() == fd; });
}

UniqueFd Acceptor::accept(int listener, std::int64_t now_ms) {
  for (;;) {
    UniqueFd fd(::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd.is_open()) return fd;
    const int error_number = errno;
    if (error_number == EINTR || error_number == ECONNABORTED) continue;
    if (is_out_of_resources(error_number)) {
      if (now_ms - logged_ms_ >= kLogIntervalMs) {
        log_line(fmt::format("cannot accept a connection: {}", std::strerror(error_number)));
        logged_ms_ = now_ms;
      }
      rest(now_ms + kRestMs);
    }
    return fd;
  }
}

void Acceptor::rest(std::int64_t until_ms) noexcept {
  rest_end_ms_ = until_ms;
  if (std::exchange(is_resting_, true)) return;
  for (const UniqueFd& listener : listeners_) (void)poller_->remove(listener.get());
}

void Acceptor::go_on() noexcept {
  is_resting_ = false;
  for (const UniqueFd& listener : listeners_) (void)poller_->add(listener.get(), Interest::readable_by_one);
}

void Acceptor::close() noexcept {
  rest(INT64_MAX);  // where a socket stays open, so would its registration
  listeners_.clear();
}

}  // namespace rest_echo::net
