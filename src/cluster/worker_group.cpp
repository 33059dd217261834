#include "rest_echo/cluster/worker_group.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <ranges>
#include <system_error>
#include <utility>

#include "rest_echo/cluster/cpu_budget.hpp"
#include "rest_echo/net/log.hpp"

namespace rest_echo::cluster {
namespace {

constexpr std::int64_t kDelayMinMs = 100;
constexpr std::int64_t kDelayMaxMs = 5'000;
// A worker that lived for this long did not die at once: the next delay is the shortest again.
constexpr std::int64_t kSoundLifeMs = 10'000;
// For workers to end by themselves at the end of the grace period before they are killed.
constexpr std::int64_t kKillDelayMs = 250;

std::int64_t now_ms() {
  std::timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1000 + time.tv_nsec / 1'000'000;
}

std::string describe_end(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return fmt::format("was killed by signal {} ({})", signal, ::strsignal(signal));
  }
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

}  // namespace

WorkerGroup::WorkerGroup(const WorkerGroupOptions& options, const net::EventLoopOptions& event_loop_options,
                         std::vector<net::Listeners> listeners)
    : options_(options),
      event_loop_options_(event_loop_options),
      load_table_(2 * listeners.size()),
      signals_({SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGUSR1}) {
  std::signal(SIGCHLD, SIG_DFL);  // where it is inherited as ignored, no end is ever reported
  for (net::Listeners& each : listeners) workers_.push_back({.listeners = std::move(each)});
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe2");
  ready_receiving_ = net::UniqueFd(ends[0]);
  ready_sending_ = net::UniqueFd(ends[1]);
  if (!poller_.add(signals_.fd(), net::Interest::readable) ||
      !poller_.add(ready_receiving_.get(), net::Interest::readable)) {
    throw std::system_error(errno, std::generic_category(), "epoll_ctl");
  }
}

WorkerGroup::~WorkerGroup() { signal_all(SIGKILL); }

int WorkerGroup::run() {
  options_.announce(fmt::format("Parent {} is running", ::getpid()));
  for (std::size_t index = 0; index < workers_.size(); ++index) start(index, index);
  while (!is_ending_ || has_processes()) {
    const std::span<const epoll_event> events = poller_.wait(timeout_ms());
    const auto is_ready = [&](int fd) {
      return std::ranges::any_of(events, [fd](const epoll_event& event) { return event.data.fd == fd; });
    };
    if (is_ready(ready_receiving_.get())) take_ready();
    if (is_ready(signals_.fd())) take_signals();
    if (exit_status_ != 0) break;
    if (is_ending_) {
      if (now_ms() >= end_ms_) signal_all(SIGKILL);
    } else {
      roll_on();
      start_due();
    }
  }
  signal_all(SIGKILL);
  is_ending_ = true;
  int status = 0;
  while (has_processes()) {
    if (const pid_t pid = ::waitpid(-1, &status, 0); pid > 0) take_end(pid, status);
  }
  return exit_status_;
}

int WorkerGroup::timeout_ms() const noexcept {
  std::int64_t until = INT64_MAX;
  if (is_ending_) until = end_ms_;
  for (const Worker& worker : workers_) {
    if (!is_ending_ && worker.state == State::absent) until = std::min(until, worker.start_again_ms);
  }
  if (until == INT64_MAX) return -1;
  return static_cast<int>(std::clamp<std::int64_t>(until - now_ms(), 0, INT32_MAX));
}

void WorkerGroup::start(std::size_t index, std::size_t seat) {
  Worker& worker = workers_[index];
  const pid_t parent = ::getpid();
  std::fflush(nullptr);  // or the child would write it again
  worker.started_ms = now_ms();
  const pid_t pid = ::fork();
  if (pid == 0) {
    worker.seat = seat;
    work(index, parent);
  }
  if (pid < 0) {
    worker.state = State::absent;
    worker.delay_ms = std::clamp(2 * worker.delay_ms, kDelayMinMs, kDelayMaxMs);
    worker.start_again_ms = now_ms() + worker.delay_ms;
    net::log_line(fmt::format("cannot fork a worker: {}", std::strerror(errno)));
    return;
  }
  worker.seat = seat;
  worker.pid = pid;
  worker.state = State::starting;
  options_.announce(fmt::format("Worker {} started", pid));
}

// The child's life. It ends by itself when the parent does, which may already have happened.
void WorkerGroup::work(std::size_t index, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) std::_Exit(1);
  int status = 1;
  try {
    if (options_.is_pinned) pin_to_allowed_cpu(index);
    net::Listeners listeners = std::move(workers_[index].listeners);
    const net::Seat seat{&load_table_, workers_[index].seat};
    workers_.clear();  // the others' sockets
    net::EventLoop loop(event_loop_options_, std::move(listeners), seat);
    const auto ready = static_cast<std::uint32_t>(index);
    [[maybe_unused]] const ssize_t size = ::write(ready_sending_.get(), &ready, sizeof ready);
    status = loop.run();
  } catch (const std::exception& error) {
    net::log_line(fmt::format("worker {}: {}", ::getpid(), error.what()));
  }
  std::_Exit(status);
}

void WorkerGroup::take_ready() {
  std::uint32_t index = 0;
  while (::read(ready_receiving_.get(), &index, sizeof index) == static_cast<ssize_t>(sizeof index)) {
    Worker& worker = workers_[index];
    if (worker.state == State::starting) worker.state = State::ready;
    if (worker.retiring_pid > 0 && !is_ending_) {
      ::kill(worker.retiring_pid, net::kRetireSignal);
      worker.is_retiring_told = true;
    }
  }
  const bool are_all_ready =
      std::ranges::all_of(workers_, [](const Worker& worker) { return worker.state == State::ready; });
  if (are_all_ready && !std::exchange(has_announced_, true)) {
    options_.announce_ready();
  }
}

void WorkerGroup::take_signals() {
  while (const std::optional<int> signal = signals_.take()) {
    if (*signal == SIGCHLD) {
      reap();
    } else if (*signal == SIGUSR1) {
      net::log_line(counters().describe() + describe_cpu_time());
    } else if (*signal == SIGHUP) {
      to_roll_.clear();
      for (std::size_t index = workers_.size(); index > 0; --index) to_roll_.push_back(index - 1);
    } else if (is_ending_) {
      if (now_ms() < repeat_counts_ms_) continue;
      exit_status_ = 128 + *signal;
      return;
    } else {
      is_ending_ = true;
      repeat_counts_ms_ = now_ms() + net::kRepeatedSignalMs;
      end_ms_ = now_ms() + options_.grace_period_ms + kKillDelayMs;
      for (Worker& worker : workers_) worker.listeners.fds.clear();  // a foreign server may have the port now
      signal_all(SIGTERM);
    }
  }
}

// That of the workers which are there; those that have ended are in the parent's own.
std::string WorkerGroup::describe_cpu_time() const {
  double seconds = 0;
  for (const Worker& worker : workers_) {
    for (const pid_t pid : {worker.pid, worker.retiring_pid}) {
      clockid_t clock{};
      std::timespec time{};
      if (pid <= 0 || ::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0) continue;
      seconds += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
    }
  }
  return fmt::format(", CPU {:.3f} s in workers{}", seconds, net::describe_cpu_time());
}

void WorkerGroup::reap() {
  int status = 0;
  for (pid_t pid = ::waitpid(-1, &status, WNOHANG); pid > 0; pid = ::waitpid(-1, &status, WNOHANG)) {
    take_end(pid, status);
  }
}

void WorkerGroup::take_end(pid_t pid, int status) {
  for (Worker& worker : workers_) {
    if (worker.retiring_pid == pid) {
      worker.retiring_pid = -1;
      vacate(other_seat(worker));
    } else if (worker.pid == pid) {
      worker.pid = -1;
      vacate(worker.seat);
      const State state = std::exchange(worker.state, State::absent);
      if (!is_ending_) replace(worker, state, fmt::format("worker {} {}", pid, describe_end(status)));
    }
  }
}

// What was handed to a process that is gone goes to the others; without any, it waits for the next one there.
void WorkerGroup::vacate(std::size_t seat) noexcept {
  load_table_.close(seat);
  while (load_table_.is_awaited(seat)) {
    const std::optional<std::size_t> target =
        load_table_.reserve_less_loaded(seat, net::LoadTable::kCountMax);
    if (!target) return;
    const net::LoadTable::HandedOver taken = load_table_.take(seat);
    if (!taken.fd.is_open()) {
      load_table_.cancel(*target);
      return;
    }
    (void)load_table_.hand_over(*target, taken.fd.get(), taken.was_served);
  }
}

// After a worker has ended without having been asked to.
void WorkerGroup::replace(Worker& worker, State state, const std::string& what_happened) {
  if (state == State::starting && !has_announced_) {
    net::log_line(what_happened + " before it was ready");
    exit_status_ = 1;
    return;
  }
  if (state == State::starting && worker.retiring_pid > 0 && !worker.is_retiring_told) {
    worker.pid = std::exchange(worker.retiring_pid, -1);
    worker.state = State::ready;
    worker.seat = other_seat(worker);
    to_roll_.clear();
    net::log_line(fmt::format("{} before it was ready; worker {} stays", what_happened, worker.pid));
    return;
  }
  const bool was_sound = now_ms() - worker.started_ms >= kSoundLifeMs;
  worker.delay_ms = was_sound ? kDelayMinMs : std::clamp(2 * worker.delay_ms, kDelayMinMs, kDelayMaxMs);
  worker.start_again_ms = now_ms() + worker.delay_ms;
  net::log_line(fmt::format("{}; another starts in {} ms", what_happened, worker.delay_ms));
}

// Each worker has two seats, so that one process can take over from another.
std::size_t WorkerGroup::other_seat(const Worker& worker) const noexcept {
  return (worker.seat + workers_.size()) % (2 * workers_.size());
}

void WorkerGroup::start_due() {
  for (std::size_t index = 0; index < workers_.size(); ++index) {
    const Worker& worker = workers_[index];
    if (worker.state == State::absent && now_ms() >= worker.start_again_ms) start(index, worker.seat);
  }
}

// A rolling restart: the next worker's replacement starts when the one before accepts connections, and only
// then does the old one hand its connections on. The listening sockets go from one to the other with whatever
// waits there.
void WorkerGroup::roll_on() {
  const bool are_all_ready =
      std::ranges::all_of(workers_, [](const Worker& worker) { return worker.state == State::ready; });
  if (to_roll_.empty() || !are_all_ready) return;
  Worker& worker = workers_[to_roll_.back()];
  if (worker.retiring_pid > 0) return;  // of an earlier restart, and still in the seat that is needed
  worker.retiring_pid = worker.pid;
  worker.is_retiring_told = false;
  const std::size_t seat = worker.seat;
  start(to_roll_.back(), other_seat(worker));
  to_roll_.pop_back();
  if (worker.state == State::absent) {  // no fork: the old one stays
    worker.pid = std::exchange(worker.retiring_pid, -1);
    worker.state = State::ready;
    worker.seat = seat;
    to_roll_.clear();
  }
}

void WorkerGroup::signal_all(int signal) noexcept {
  for (const Worker& worker : workers_) {
    if (worker.pid > 0) ::kill(worker.pid, signal);
    if (worker.retiring_pid > 0) ::kill(worker.retiring_pid, signal);
  }
}

bool WorkerGroup::has_processes() const noexcept {
  return std::ranges::any_of(workers_,
                             [](const Worker& worker) { return worker.pid > 0 || worker.retiring_pid > 0; });
}

}  // namespace rest_echo::cluster
