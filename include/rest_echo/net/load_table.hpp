#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "rest_echo/net/counters.hpp"
#include "rest_echo/net/unique_fd.hpp"

namespace rest_echo::net {

/// How many connections each worker has, in memory that all of them share, and for each a queue of sockets
/// that others hand over. The kernel spreads connections by a hash, ten over two workers as often 7 to 3 as 5
/// to 5; a worker with two more than another hands one over while it is at rest.
///
/// A seat is a worker's place in the table. It outlives the worker: what a dead one was handed and had not
/// taken waits for the next that sits there.
class LoadTable {
 public:
  static constexpr std::size_t kCounterCount = sizeof(Counters) / sizeof(std::uint64_t);
  static constexpr std::size_t kCountMax = INT32_MAX;

  /// Before forking. Throws std::system_error where the kernel refuses memory or sockets.
  explicit LoadTable(std::size_t seat_count);
  LoadTable(const LoadTable&) = delete;
  LoadTable& operator=(const LoadTable&) = delete;

  /// A worker with no connections yet takes the seat, and goes on counting where the last one there ended.
  Counters open(std::size_t seat) noexcept;
  /// Nothing more is to be handed to the seat; what already was is to be taken while awaited_count() is not
  /// 0.
  void close(std::size_t seat) noexcept;
  /// Sockets handed to the seat that are still under way.
  [[nodiscard]] std::size_t awaited_count(std::size_t seat) const noexcept;
  [[nodiscard]] bool is_awaited(std::size_t seat) const noexcept { return awaited_count(seat) > 0; }

  void set_count(std::size_t seat, std::size_t connection_count) noexcept;
  void set_counters(std::size_t seat, const Counters& counters) noexcept;
  /// Of all seats together.
  [[nodiscard]] Counters counters() const noexcept;
  /// Changes whenever a count does.
  [[nodiscard]] std::int32_t version() const noexcept;

  /// A seat with at least two connections fewer than `connection_count`, already counted there: hand_over()
  /// or cancel() must follow.
  [[nodiscard]] std::optional<std::size_t> reserve_less_loaded(std::size_t seat,
                                                               std::size_t connection_count) noexcept;
  /// Sends the socket to the seat's queue; the caller's own descriptor stays open. On failure: cancelled.
  /// `was_served` tells whether it has had an answer.
  [[nodiscard]] bool hand_over(std::size_t seat, int fd, bool was_served) noexcept;
  void cancel(std::size_t seat) noexcept;

  /// Readable while a socket waits in the seat's queue.
  [[nodiscard]] int queue_fd(std::size_t seat) const noexcept { return queues_[seat].receiving.get(); }
  struct HandedOver {
    UniqueFd fd;
    bool was_served = false;
  };
  /// The next socket of the seat's queue, if any; it is counted there until the next set_count().
  [[nodiscard]] HandedOver take(std::size_t seat) noexcept;

 private:
  struct alignas(64) Entry {
    std::atomic<std::int32_t> count{0};
    std::atomic<std::int32_t> reserved{0};  // handed over and not yet taken
    std::atomic<bool> is_open{false};
    std::array<std::atomic<std::uint64_t>, kCounterCount> counters{};

    [[nodiscard]] std::int32_t load() const noexcept { return count.load() + reserved.load(); }
  };
  // Unmaps what all processes share: one Entry a seat, and before them one whose count is the version.
  struct Unmap {
    std::size_t entry_count;
    void operator()(Entry* entries) const noexcept;
  };
  struct Queue {
    UniqueFd receiving;
    UniqueFd sending;
  };

  [[nodiscard]] Counters counters_of(std::size_t seat) const noexcept;
  [[nodiscard]] Entry& entry(std::size_t seat) const noexcept { return entries_.get()[1 + seat]; }

  std::size_t seat_count_;
  std::unique_ptr<Entry, Unmap> entries_;
  std::vector<Queue> queues_;
};

}  // namespace rest_echo::net
