#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <span>
#include <string>
#include <string_view>

#include "rest_echo/echo/conversation.hpp"
#include "support/cutting.hpp"

namespace rest_echo::test {

/// The time it always is, and the Date of it.
inline constexpr std::time_t kTime = 784'111'777;
inline constexpr std::string_view kDate = "Sun, 06 Nov 1994 08:49:37 GMT";

/// One conversation and its peer, who sends what it is told and takes everything that is sent at once.
class Exchange {
 public:
  explicit Exchange(echo::Workspace& workspace) : workspace_(workspace) {
    workspace_.service.set_time(kTime);
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange() { conversation_.abandon(workspace_); }

  /// The octets arrive together, as far as the conversation has room at once. Once it is over the rest is
  /// dropped.
  void send(std::string_view octets) {
    while (!octets.empty() && !conversation_.is_over()) {
      const std::span<char> space = conversation_.receive_space(workspace_);
      const std::size_t size = std::min(space.size(), octets.size());
      std::memcpy(space.data(), octets.data(), size);
      // What an earlier receipt may have left behind must never be taken for something received.
      const std::span<char> stale = space.subspan(size, std::min<std::size_t>(space.size() - size, 80));
      std::ranges::fill(stale, octets[size - 1] == '\r' ? '\n' : '0');
      octets.remove_prefix(size);
      answered_count_ += conversation_.received(size, workspace_);
      take_sent();
    }
  }
  /// Each piece arrives alone.
  void send(std::string_view octets, const Cutting& cutting) {
    std::size_t offset = 0;
    for (const std::size_t end : cutting) {
      send(octets.substr(offset, end - offset));
      offset = end;
    }
  }
  void end_input() {
    conversation_.end_of_input(workspace_);
    take_sent();
  }
  void time_out() {
    conversation_.time_out(workspace_);
    take_sent();
  }

  /// All that was sent to the peer.
  [[nodiscard]] const std::string& sent() const { return sent_; }
  [[nodiscard]] std::size_t answered_count() const { return answered_count_; }
  [[nodiscard]] const echo::Conversation& conversation() const { return conversation_; }
  /// Whether a request has begun and is not complete.
  [[nodiscard]] bool is_inside_request() const {
    using Awaited = echo::Conversation::Awaited;
    return conversation_.awaited() == Awaited::rest_of_head ||
           conversation_.awaited() == Awaited::rest_of_body;
  }

 private:
  void take_sent() {
    for (;;) {
      sent_ += workspace_.out.unsent();
      workspace_.out.clear();
      if (!conversation_.is_stopped()) return;
      answered_count_ += conversation_.resume(workspace_);
    }
  }

  echo::Workspace& workspace_;
  echo::Conversation conversation_;
  std::string sent_;
  std::size_t answered_count_ = 0;
};

}  // namespace rest_echo::test
