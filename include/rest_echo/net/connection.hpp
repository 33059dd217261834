#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "rest_echo/bytes/block_pool.hpp"
#include "rest_echo/echo/conversation.hpp"
#include "rest_echo/net/unique_fd.hpp"

namespace rest_echo::net {

/// Octets that a short write left over, in a block of their own size.
struct Unsent {
  Block block;
  std::size_t offset = 0;
  std::size_t size = 0;
  int untaken_size = 0;  ///< of what was sent before, in octets, when time was last given

  [[nodiscard]] std::string_view octets() const noexcept {
    return {block.octets.get() + offset, size - offset};
  }
};

/// What a connection has a deadline for.
enum class Wait : std::uint8_t { first_request, head, body, next_request, write, linger };
inline constexpr std::size_t kWaitCount = 6;

/// One accepted socket. Small, as there may be many at rest: whatever grows is owned only while it is needed.
struct Connection {
  explicit Connection(UniqueFd socket) noexcept : fd(std::move(socket)) {}

  UniqueFd fd;
  Wait wait = Wait::first_request;
  bool is_lingering = false;        ///< the sending side is shut down; input is read and dropped
  bool has_peer_finished = false;   ///< end of input seen
  bool is_closing = false;          ///< to be destroyed at the end of the batch
  std::uint32_t lingered_size = 0;  ///< octets dropped so far
  echo::Conversation conversation;
  std::unique_ptr<Unsent> unsent;

  // Owned by the DeadlineList that the connection is in.
  Connection* previous = nullptr;
  Connection* next = nullptr;
  std::int64_t deadline_ms = 0;
};
static_assert(sizeof(Connection) <= 96);

}  // namespace rest_echo::net
