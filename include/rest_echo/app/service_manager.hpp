#pragma once

#include <string_view>

namespace rest_echo::app {

/// Tells the service manager a state such as `READY=1`, where NOTIFY_SOCKET names its socket (sd_notify(3)).
void notify_service_manager(std::string_view state);

/// How many listening sockets the service manager has handed to this process, from descriptor 3 on
/// (sd_listen_fds(3)). Forgets them, so that no child takes them for its own.
[[nodiscard]] int take_listen_fd_count() noexcept;

}  // namespace rest_echo::app
