#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <utility>

#include "rest_echo/app/healthcheck.hpp"
#include "rest_echo/app/options.hpp"
#include "rest_echo/app/service_manager.hpp"
#include "rest_echo/app/start_up_memory.hpp"
#include "rest_echo/cluster/cpu_budget.hpp"
#include "rest_echo/cluster/worker_group.hpp"
#include "rest_echo/net/event_loop.hpp"
#include "rest_echo/net/log.hpp"
#include "rest_echo/net/socket.hpp"

namespace {

using namespace rest_echo;

// From here on a signal waits for the loop that is yet to be made, instead of acting by default.
void hold_signals() {
  sigset_t held;
  ::sigemptyset(&held);
  ::sigaddset(&held, SIGTERM);
  ::sigaddset(&held, SIGINT);
  (void)::sigprocmask(SIG_BLOCK, &held, nullptr);
}

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

int fail_to_listen(const net::ListenError& error) {
  net::log_line(fmt::format("cannot listen on {}: {}", error.address, std::strerror(error.error_number)));
  return 1;
}

using ListenersOfWorkers = std::vector<net::Listeners>;

// Sockets that the service manager hands over go before those that the options name.
Result<ListenersOfWorkers, net::ListenError> open_listeners(const app::Options& options,
                                                            std::size_t worker_count) {
  if (const int inherited_count = app::take_listen_fd_count(); inherited_count > 0) {
    return net::inherit_listeners(inherited_count, worker_count);
  }
  if (!options.listens_on_tcp) return ListenersOfWorkers(worker_count);
  return net::listen_on_shared_port(
      {.hosts = options.hosts, .port = options.port, .backlog = options.backlog}, worker_count);
}

std::string describe_start(const app::Options& options, const net::Listeners& listeners,
                           std::size_t worker_count, const cluster::CpuBudget& budget) {
  return fmt::format("{} on {}, {} JSON, {} worker{} ({})", app::describe_version(),
                     fmt::join(listeners.addresses, ", "),
                     options.event_loop.json_mode == json::Mode::typed ? "typed" : "generic", worker_count,
                     worker_count == 1 ? "" : "s", budget.describe());
}

int serve(const app::Options& options) {
  hold_signals();
  const cluster::CpuBudget budget = cluster::read_cpu_budget();
  const std::size_t worker_count = options.worker_count.value_or(budget.usable_count());
  Result<ListenersOfWorkers, net::ListenError> opened = open_listeners(options, worker_count);
  if (!opened) return fail_to_listen(opened.error());
  ListenersOfWorkers& listeners = opened.value();
  net::UnixSocketFile unix_socket_file;
  if (!options.unix_path.empty()) {
    Result<net::UnixSocketFile, net::ListenError> file =
        net::listen_on_unix(options.unix_path, options.backlog, listeners);
    if (!file) return fail_to_listen(file.error());
    unix_socket_file = std::move(file.value());
  }
  if (listeners.front().has_fallen_back_to_ipv4) net::log_line("IPv6 is off, listening on IPv4 only");

  const auto announce = [&options](const std::string& line) {
    if (!options.is_quiet) net::print_line(line);
  };
  const std::string listening = listeners.front().port == 0
                                    ? fmt::format("Listening on {}", listeners.front().addresses.front())
                                    : fmt::format("Listening on port {}", listeners.front().port);
  const auto announce_ready = [&announce, listening] {
    announce(listening);
    app::notify_service_manager("READY=1");
  };
  announce(describe_start(options, listeners.front(), worker_count, budget));

  // The option is for all workers together.
  net::EventLoopOptions event_loop_options = options.event_loop;
  event_loop_options.connection_count_max =
      (options.event_loop.connection_count_max + worker_count - 1) / worker_count;
  net::Counters counters;
  int status = 0;
  if (worker_count == 1) {
    if (options.is_pinned) cluster::pin_to_allowed_cpu(0);
    net::EventLoop loop(event_loop_options, std::move(listeners.front()));
    announce_ready();
    app::release_start_up_memory();
    status = loop.run();
    counters = loop.counters();
  } else {
    cluster::WorkerGroup group({.is_pinned = options.is_pinned,
                                .grace_period_ms = options.event_loop.grace_period_ms,
                                .announce = announce,
                                .announce_ready = announce_ready},
                               event_loop_options, std::move(listeners));
    app::release_start_up_memory();
    status = group.run();
    counters = group.counters();
  }
  if (options.prints_stats) net::log_line(counters.describe() + net::describe_cpu_time());
  return status;
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
    const auto& serving = std::get<app::Options>(options);
    return serving.healthcheck ? app::check_health(*serving.healthcheck) : serve(serving);
  } catch (const std::exception& error) {
    net::log_line(error.what());
    return 1;
  }
}
