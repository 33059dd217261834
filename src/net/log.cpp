#include "rest_echo/net/log.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <string>

namespace rest_echo::net {
namespace {

iovec part(std::string_view text) { return {const_cast<char*>(text.data()), text.size()}; }

}  // namespace

void log_line(std::string_view text) noexcept {
  const std::array<iovec, 3> parts{part("rest-echo: "), part(text), part("\n")};
  [[maybe_unused]] const ssize_t size = ::writev(STDERR_FILENO, parts.data(), parts.size());
}

}  // namespace rest_echo::net
