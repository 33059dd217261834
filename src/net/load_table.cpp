#include "rest_echo/net/load_table.hpp"

#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>

namespace rest_echo::net {

void LoadTable::Unmap::operator()(Entry* entries) const noexcept {
  ::munmap(entries, entry_count * sizeof(Entry));
}

LoadTable::LoadTable(std::size_t seat_count)
    : seat_count_(seat_count), entries_(nullptr, Unmap{1 + seat_count}) {
  static_assert(std::atomic<std::int32_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);
  void* const memory = ::mmap(nullptr, (1 + seat_count) * sizeof(Entry), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  entries_.reset(new (memory) Entry[1 + seat_count]);
  for (std::size_t seat = 0; seat < seat_count; ++seat) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) {
      throw std::system_error(errno, std::generic_category(), "socketpair");
    }
    queues_.push_back({UniqueFd(ends[0]), UniqueFd(ends[1])});
  }
}

Counters LoadTable::open(std::size_t seat) noexcept {
  entry(seat).count = 0;
  entry(seat).is_open = true;
  ++entries_->count;
  return counters_of(seat);
}

void LoadTable::close(std::size_t seat) noexcept { entry(seat).is_open = false; }

std::size_t LoadTable::awaited_count(std::size_t seat) const noexcept {
  return static_cast<std::size_t>(std::max(0, entry(seat).reserved.load()));
}

void LoadTable::set_count(std::size_t seat, std::size_t connection_count) noexcept {
  entry(seat).count = static_cast<std::int32_t>(connection_count);
  ++entries_->count;
}

// Counters as the words they consist of; each is written by one process only.
void LoadTable::set_counters(std::size_t seat, const Counters& counters) noexcept {
  const auto words = std::bit_cast<std::array<std::uint64_t, kCounterCount>>(counters);
  for (std::size_t i = 0; i < words.size(); ++i) {
    entry(seat).counters[i].store(words[i], std::memory_order_relaxed);
  }
}

Counters LoadTable::counters_of(std::size_t seat) const noexcept {
  std::array<std::uint64_t, kCounterCount> words{};
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] = entry(seat).counters[i].load(std::memory_order_relaxed);
  return std::bit_cast<Counters>(words);
}

Counters LoadTable::counters() const noexcept {
  Counters sum;
  for (std::size_t seat = 0; seat < seat_count_; ++seat) sum += counters_of(seat);
  return sum;
}

std::int32_t LoadTable::version() const noexcept { return entries_->count.load(std::memory_order_relaxed); }

std::optional<std::size_t> LoadTable::reserve_less_loaded(std::size_t seat,
                                                          std::size_t connection_count) noexcept {
  for (;;) {
    std::optional<std::size_t> least;
    std::int32_t least_load = static_cast<std::int32_t>(connection_count) - 1;
    for (std::size_t other = 0; other < seat_count_; ++other) {
      if (other == seat || !entry(other).is_open) continue;
      const std::int32_t load = entry(other).load();
      if (load < least_load) {
        least = other;
        least_load = load;
      }
    }
    if (!least) return std::nullopt;
    // Another worker may have had the same idea: only one of two equal reservations stands.
    std::int32_t reserved = entry(*least).reserved;
    if (entry(*least).count + reserved != least_load) continue;
    if (!entry(*least).reserved.compare_exchange_strong(reserved, reserved + 1)) continue;
    if (entry(*least).is_open) return least;
    cancel(*least);  // it closed meanwhile
  }
}

void LoadTable::cancel(std::size_t seat) noexcept { --entry(seat).reserved; }

bool LoadTable::hand_over(std::size_t seat, int fd, bool was_served) noexcept {
  char octet = was_served ? 1 : 0;
  iovec content{.iov_base = &octet, .iov_len = 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  if (::sendmsg(queues_[seat].sending.get(), &message, MSG_NOSIGNAL) == 1) return true;
  cancel(seat);
  return false;
}

LoadTable::HandedOver LoadTable::take(std::size_t seat) noexcept {
  char octet = 0;
  iovec content{.iov_base = &octet, .iov_len = 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (::recvmsg(queues_[seat].receiving.get(), &message, MSG_CMSG_CLOEXEC) != 1) return {};
  int fd = -1;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  const bool is_there = header != nullptr && header->cmsg_type == SCM_RIGHTS;  // or we are out of descriptors
  if (is_there) {
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    ++entry(seat).count;  // before the next line, so that the seat never looks lighter than it is
  }
  cancel(seat);
  return {UniqueFd(fd), octet != 0};
}

}  // namespace rest_echo::net
