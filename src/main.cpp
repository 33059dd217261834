#include <fmt/format.h>
#include <malloc.h>
#include <sched.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <utility>

#include "rest_echo/app/options.hpp"
#include "rest_echo/net/event_loop.hpp"
#include "rest_echo/net/socket.hpp"

namespace {

using namespace rest_echo;

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

int serve(const app::Options& options) {
  Result<net::Listeners, net::ListenError> listeners =
      net::listen_on({.hosts = options.hosts, .port = options.port, .backlog = options.backlog});
  if (!listeners) {
    fmt::print(stderr, "rest-echo: cannot listen on {}: {}\n", listeners.error().address,
               std::strerror(listeners.error().error_number));
    return 1;
  }
  const std::uint16_t port = listeners.value().port;
  if (listeners.value().has_fallen_back_to_ipv4) {
    fmt::print(stderr, "rest-echo: IPv6 is off, listening on IPv4 only\n");
  }
  if (!options.is_quiet) {
    fmt::print("{} on {}\n", app::describe_version(), fmt::join(listeners.value().addresses, ", "));
  }
  net::EventLoop loop(options.event_loop, std::move(listeners.value()));
  if (!options.is_quiet) {
    fmt::print("Listening on port {}\n", port);
    std::fflush(stdout);
  }
  return loop.run();
}

}  // namespace

int main(int argc, char** argv) {
  // Memory for large bodies goes back to the system when it is freed; by default glibc would come to keep it.
  ::mallopt(M_MMAP_THRESHOLD, 256 * 1024);
  raise_descriptor_limit();
  try {
    const std::variant<app::Options, app::Exit> options = app::read_options(argc, argv);
    if (const auto* exit = std::get_if<app::Exit>(&options)) return exit->status;
    return serve(std::get<app::Options>(options));
  } catch (const std::exception& error) {
    fmt::print(stderr, "rest-echo: {}\n", error.what());
    return 1;
  }
}
