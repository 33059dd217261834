#include "rest_echo/net/connection_table.hpp"

#include <algorithm>

namespace rest_echo::net {

Connection& ConnectionTable::add(UniqueFd fd) {
  const auto index = static_cast<std::size_t>(fd.get());
  if (index >= connections_.size()) connections_.resize(std::max(index + 1, 2 * connections_.size()));
  connections_[index] = std::make_unique<Connection>(std::move(fd));
  ++count_;
  return *connections_[index];
}

void ConnectionTable::destroy(Connection& connection) noexcept {
  connections_[static_cast<std::size_t>(connection.fd.get())].reset();
  --count_;
}

}  // namespace rest_echo::net
