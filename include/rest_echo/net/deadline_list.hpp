#pragma once

#include <cassert>
#include <cstdint>

#include "rest_echo/net/connection.hpp"

namespace rest_echo::net {

/// Connections that wait for the same thing, and so for equally long: the order of arrival is the order of
/// expiry, and a tick costs what expires.
class DeadlineList {
 public:
  void set_timeout_ms(std::int64_t timeout_ms) noexcept { timeout_ms_ = timeout_ms; }

  [[nodiscard]] Connection* front() const noexcept { return front_; }

  /// How long a connection of this list has been waiting.
  [[nodiscard]] std::int64_t age_ms(const Connection& connection, std::int64_t now_ms) const noexcept {
    return now_ms - (connection.deadline_ms - timeout_ms_);
  }

  /// Adds a connection that is in no list.
  void push_back(Connection& connection, std::int64_t now_ms) noexcept {
    connection.deadline_ms = now_ms + timeout_ms_;
    connection.previous = back_;
    connection.next = nullptr;
    (back_ == nullptr ? front_ : back_->next) = &connection;
    back_ = &connection;
  }
  /// Removes a connection that is in this list.
  void remove(Connection& connection) noexcept {
    (connection.previous == nullptr ? front_ : connection.previous->next) = connection.next;
    (connection.next == nullptr ? back_ : connection.next->previous) = connection.previous;
  }
  /// Starts the time of a connection in this list anew.
  void renew(Connection& connection, std::int64_t now_ms) noexcept {
    if (back_ == &connection) {
      connection.deadline_ms = now_ms + timeout_ms_;
      return;
    }
    remove(connection);
    push_back(connection, now_ms);
  }

 private:
  Connection* front_ = nullptr;
  Connection* back_ = nullptr;
  std::int64_t timeout_ms_ = 0;
};

}  // namespace rest_echo::net
