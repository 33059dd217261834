#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <utility>

#include "rest_echo/app/options.hpp"
#include "rest_echo/cluster/cpu_budget.hpp"
#include "rest_echo/cluster/worker_group.hpp"
#include "rest_echo/net/event_loop.hpp"
#include "rest_echo/net/log.hpp"
#include "rest_echo/net/socket.hpp"

namespace {

using namespace rest_echo;

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

// Flushed, as scripts wait for it; that nobody reads it is no reason to stop.
void print_line(const std::string& line) {
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

int fail_to_listen(const net::ListenError& error) {
  net::log_line(fmt::format("cannot listen on {}: {}", error.address, std::strerror(error.error_number)));
  return 1;
}

int serve(const app::Options& options) {
  const auto announce = [&options](const std::string& line) {
    if (!options.is_quiet) print_line(line);
  };
  const cluster::CpuBudget budget = cluster::read_cpu_budget();
  const std::size_t worker_count = options.worker_count.value_or(budget.usable_count());
  auto listening = net::listen_on_shared_port(
      {.hosts = options.hosts, .port = options.port, .backlog = options.backlog}, worker_count);
  if (!listening) return fail_to_listen(listening.error());
  std::vector<net::Listeners>& listeners = listening.value();

  if (listeners.front().has_fallen_back_to_ipv4) net::log_line("IPv6 is off, listening on IPv4 only");
  announce(fmt::format("{} on {}, {} JSON, {} worker{} ({})", app::describe_version(),
                       fmt::join(listeners.front().addresses, ", "),
                       options.event_loop.json_mode == json::Mode::typed ? "typed" : "generic", worker_count,
                       worker_count == 1 ? "" : "s", budget.describe()));
  if (worker_count == 1) {
    const std::uint16_t port = listeners.front().port;
    net::EventLoop loop(options.event_loop, std::move(listeners.front()));
    announce(fmt::format("Listening on port {}", port));
    return loop.run();
  }
  cluster::WorkerGroup group({.is_pinned = options.is_pinned,
                              .grace_period_ms = options.event_loop.grace_period_ms,
                              .announce = announce},
                             options.event_loop, std::move(listeners));
  return group.run();
}

}  // namespace

int main(int argc, char** argv) {
  // Memory for large bodies goes back to the system when it is freed; by default glibc would come to keep it.
  ::mallopt(M_MMAP_THRESHOLD, 256 * 1024);
  std::signal(SIGPIPE, SIG_IGN);
  raise_descriptor_limit();
  try {
    const std::variant<app::Options, app::Exit> options = app::read_options(argc, argv);
    if (const auto* exit = std::get_if<app::Exit>(&options)) return exit->status;
    return serve(std::get<app::Options>(options));
  } catch (const std::exception& error) {
    net::log_line(error.what());
    return 1;
  }
}
