#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "rest_echo/net/connection.hpp"

namespace rest_echo::net {

/// Owns the connections, by descriptor.
class ConnectionTable {
 public:
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] Connection* find(int fd) const noexcept {
    const auto index = static_cast<std::size_t>(fd);
    return index < connections_.size() ? connections_[index].get() : nullptr;
  }
  Connection& add(UniqueFd fd);
  /// Closes the descriptor and frees the connection.
  void destroy(Connection& connection) noexcept;

 private:
  std::vector<std::unique_ptr<Connection>> connections_;
  std::size_t count_ = 0;
};

}  // namespace rest_echo::net
