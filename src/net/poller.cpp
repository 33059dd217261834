#include "rest_echo/net/poller.hpp"

#include <cerrno>
#include <system_error>

namespace rest_echo::net {

Poller::Poller() : fd_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!fd_.is_open()) throw std::system_error(errno, std::generic_category(), "epoll_create1");
}

bool Poller::add(int fd, Interest interest) noexcept {
  epoll_event event{.events = static_cast<std::uint32_t>(interest), .data = {.fd = fd}};
  return ::epoll_ctl(fd_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

bool Poller::remove(int fd) noexcept { return ::epoll_ctl(fd_.get(), EPOLL_CTL_DEL, fd, nullptr) == 0; }

bool Poller::set_interest(int fd, Interest interest) noexcept {
  epoll_event event{.events = static_cast<std::uint32_t>(interest), .data = {.fd = fd}};
  return ::epoll_ctl(fd_.get(), EPOLL_CTL_MOD, fd, &event) == 0;
}

std::span<const epoll_event> Poller::wait(int timeout_ms) noexcept {
  const int count = ::epoll_wait(fd_.get(), events_.data(), static_cast<int>(events_.size()), timeout_ms);
  return {events_.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
}

}  // namespace rest_echo::net
