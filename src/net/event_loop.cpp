#include "rest_echo/net/event_loop.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <new>
#include <utility>

#include "rest_echo/net/log.hpp"

namespace rest_echo::net {
namespace {

using Outcome = Transfer::Outcome;

// Connections taken from one listener before other events get their turn.
constexpr int kAcceptCountMax = 64;
constexpr std::int64_t kSpareReleaseIntervalMs = 1'000;
// How long a connection without a request must have been here before it is handed over: short-lived ones
// never are.
constexpr std::int64_t kHandOverAgeMs = 10;
// How long after its own count has changed a worker watches those of others.
constexpr std::int64_t kBalanceWatchMs = 100;

constexpr std::size_t kAccessLogSizeMin = 32 * 1024;
constexpr std::size_t kAccessLogSizeMax = 1024 * 1024;
constexpr std::int64_t kAccessLogIntervalMs = 1'000;
constexpr std::int64_t kAccessLogRetryMs = 20;
constexpr std::int64_t kAccessLogEndWaitMs = 100;

std::int64_t read_clock_ms(clockid_t clock) {
  std::timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1000 + time.tv_nsec / 1'000'000;
}

Wait wait_of(echo::Conversation::Awaited awaited) {
  switch (awaited) {
    case echo::Conversation::Awaited::first_request: return Wait::first_request;
    case echo::Conversation::Awaited::next_request: return Wait::next_request;
    case echo::Conversation::Awaited::rest_of_head: return Wait::head;
    case echo::Conversation::Awaited::rest_of_body: return Wait::body;
  }
  return Wait::next_request;
}

}  // namespace

EventLoop::EventLoop(const EventLoopOptions& options, Listeners listeners, std::optional<Seat> seat)
    : options_(options),
      seat_(seat),
      ends_on_hang_up_(!seat && has_controlling_terminal()),
      signals_(seat ? Signals({SIGTERM, SIGINT, kRetireSignal})
                    : Signals({SIGTERM, SIGINT, SIGHUP, SIGUSR1})),
      acceptor_(std::move(listeners.fds), poller_),
      workspace_(options.limits, options.json_mode) {
  list_of(Wait::first_request).set_timeout_ms(std::min(options.head_timeout_ms, options.idle_timeout_ms));
  list_of(Wait::head).set_timeout_ms(options.head_timeout_ms);
  list_of(Wait::body).set_timeout_ms(options.body_timeout_ms);
  list_of(Wait::next_request).set_timeout_ms(options.idle_timeout_ms);
  list_of(Wait::write).set_timeout_ms(options.write_timeout_ms);
  list_of(Wait::linger).set_timeout_ms(options.linger_timeout_ms);
  watch(signals_.fd());
  if (seat_) watch(seat_->table->queue_fd(seat_->index));
  if (options.access_log) {
    workspace_.access_log.emplace(*options.access_log);
    access_log_output_.emplace(STDOUT_FILENO);
  }
  if (seat_) counters_ = seat_->table->open(seat_->index);
}

void EventLoop::watch(int fd) {
  if (!poller_.add(fd, Interest::readable))
    throw std::system_error(errno, std::generic_category(), "epoll_ctl");
}

int EventLoop::run() {
  read_clocks();
  while (!is_finished()) {
    const std::span<const epoll_event> events = poller_.wait(timeout_ms());
    read_clocks();
    for (const epoll_event& event : events) take_event(event);
    if (exit_status_ != 0) break;
    expire();
    if (is_retiring_ && !is_draining_ && now_ms_ >= retire_end_ms_) start_draining();
    if (seat_) balance();
    destroy_closing();
    release_spare();
    count();
    if (workspace_.access_log) write_access_log();
    if (acceptor_.is_resting() && now_ms_ >= acceptor_.rest_end_ms()) acceptor_.go_on();
  }
  count();
  if (workspace_.access_log) write_last_access_log();
  return exit_status_;
}

// Does something for one connection. Memory that a body wants and the machine has not costs that connection;
// it is the one exception that may come up while serving.
template <typename Work>
void EventLoop::serve(Connection& connection, Work work) {
  if (connection.is_closing) return;
  if (workspace_.access_log) workspace_.client = clients_[static_cast<std::size_t>(connection.fd.get())];
  try {
    work();
  } catch (const std::bad_alloc&) {
    log_line("out of memory for a request");
    refuse_for_memory(connection);
  }
}

void EventLoop::refuse_for_memory(Connection& connection) noexcept {
  try {
    connection.conversation.run_out_of_memory(workspace_);
    flush(connection, 0);
  } catch (const std::bad_alloc&) {
    workspace_.out.clear();
    close_soon(connection);
  }
}

void EventLoop::take_event(const epoll_event& event) {
  const int fd = event.data.fd;
  if (Connection* const connection = connections_.find(fd); connection != nullptr) {
    serve(*connection, [&] { take_event(*connection, event.events); });
  } else if (fd == signals_.fd()) {
    take_signals();
  } else if (acceptor_.owns(fd)) {
    accept_from(fd);
  } else if (seat_) {
    take_handed_over();
  }
}

// Once a batch; a tick of the coarse clocks, about 4 ms, is fine enough for both uses.
void EventLoop::read_clocks() {
  now_ms_ = read_clock_ms(CLOCK_MONOTONIC_COARSE);
  const std::int64_t seconds = read_clock_ms(CLOCK_REALTIME_COARSE) / 1000;
  workspace_.service.set_time(seconds);
  if (workspace_.access_log) workspace_.access_log->set_time(seconds);
}

int EventLoop::timeout_ms() const noexcept {
  std::int64_t until = INT64_MAX;
  for (const DeadlineList& list : deadlines_) {
    if (list.front() != nullptr) until = std::min(until, list.front()->deadline_ms);
  }
  if (is_draining_) until = std::min(until, grace_end_ms_);
  if (is_retiring_ && !is_draining_) until = std::min(until, retire_end_ms_);
  if (acceptor_.is_resting()) until = std::min(until, acceptor_.rest_end_ms());
  if (workspace_.access_log && !workspace_.access_log->lines().empty()) {
    until = std::min(until, access_log_written_ms_ + kAccessLogIntervalMs);
  }
  if (is_awaiting_handed_over()) until = std::min(until, now_ms_ + kHandOverAgeMs);  // or it may be cancelled
  if (is_balance_due_) until = std::min(until, now_ms_ + kHandOverAgeMs);
  if (workspace_.is_grown()) until = std::min(until, spare_released_ms_ + kSpareReleaseIntervalMs);
  if (until == INT64_MAX) return -1;
  // One more, as the coarse clock lags behind the one that epoll_wait goes by.
  return static_cast<int>(std::clamp<std::int64_t>(until - now_ms_ + 1, 0, INT32_MAX));
}

bool EventLoop::is_awaiting_handed_over() const noexcept {
  return seat_ && (is_draining_ || is_retiring_) && seat_->table->is_awaited(seat_->index);
}

bool EventLoop::is_finished() const noexcept {
  const bool is_empty = connections_.count() == 0 && !is_awaiting_handed_over();
  if (is_draining_) return is_empty || now_ms_ >= grace_end_ms_;
  return is_retiring_ && is_empty;
}

void EventLoop::take_signals() {
  while (const std::optional<int> signal = signals_.take()) {
    if (*signal == kRetireSignal && seat_) {
      retire();
    } else if (*signal == SIGUSR1) {
      log_line(counters_.describe() + describe_cpu_time());
    } else if (*signal == SIGHUP && !ends_on_hang_up_) {
      log_line("SIGHUP ignored: there is one worker, and nobody to take over from it");
    } else if (!is_draining_) {
      repeat_counts_ms_ = now_ms_ + kRepeatedSignalMs;
      start_draining();
    } else if (!seat_ && now_ms_ >= repeat_counts_ms_) {
      // A worker is ended by its parent alone, which may have been told by the same key press.
      exit_status_ = 128 + *signal;
      return;
    }
  }
}

void EventLoop::stop_listening() {
  for (const UniqueFd& listener : acceptor_.listeners()) {
    std::size_t count = 0;
    do {
      count = connections_.count();
      accept_from(listener.get());
    } while (connections_.count() > count);
  }
  acceptor_.close();
  if (seat_) seat_->table->close(seat_->index);
}

// Another worker takes over: connections are handed to it as they come to rest, and none is closed.
void EventLoop::retire() {
  if (is_draining_ || is_retiring_) return;
  is_retiring_ = true;
  // As long as a request may take. A peer that never comes to rest is then told to go, as when draining.
  retire_end_ms_ =
      now_ms_ + std::max({options_.head_timeout_ms, options_.body_timeout_ms, options_.write_timeout_ms});
  is_balance_due_ = true;
  stop_listening();
}

// No new connections; those at rest are closed, unless a request is waiting to be read; what has begun is
// answered.
void EventLoop::start_draining() {
  is_draining_ = true;
  grace_end_ms_ = now_ms_ + options_.grace_period_ms;
  workspace_.service.start_draining();
  stop_listening();
  if (seat_) take_handed_over();
  for (const Wait wait : {Wait::first_request, Wait::next_request}) {
    Connection* next = nullptr;
    for (Connection* connection = list_of(wait).front(); connection != nullptr; connection = next) {
      next = connection->next;
      serve(*connection, [&] {
        read(*connection);
        if (connection->wait == wait) close_soon(*connection);
      });
    }
  }
}

void EventLoop::accept_from(int listener) {
  for (int count = 0; count < kAcceptCountMax; ++count) {
    const std::size_t coming_count = seat_ ? seat_->table->awaited_count(seat_->index) : 0;
    if (connections_.count() + coming_count >= options_.connection_count_max) {
      acceptor_.rest(INT64_MAX);  // until a connection is destroyed
      return;
    }
    UniqueFd fd = acceptor_.accept(listener, now_ms_);
    if (!fd.is_open()) return;
    ++counters_.connection_count;
    admit(std::move(fd));
  }
}

Connection* EventLoop::admit(UniqueFd fd) {
  if (!poller_.add(fd.get(), Interest::readable)) return nullptr;  // closed again
  if (workspace_.access_log) {
    const auto index = static_cast<std::size_t>(fd.get());
    if (index >= clients_.size()) clients_.resize(index + 1);
    clients_[index] = describe_peer(fd.get());
  }
  Connection& connection = connections_.add(std::move(fd));
  list_of(Wait::first_request).push_back(connection, now_ms_);
  return &connection;
}

// Connections of other workers, at rest there: nothing but the socket comes along.
void EventLoop::take_handed_over() {
  while (true) {
    LoadTable::HandedOver taken = seat_->table->take(seat_->index);
    if (!taken.fd.is_open()) return;
    Connection* const connection = admit(std::move(taken.fd));
    if (connection != nullptr && taken.was_served) {
      connection->conversation.note_earlier_requests();
      wait_for(*connection, Wait::next_request, true);
    }
    if (connection != nullptr && is_draining_) {
      serve(*connection, [&] {
        read(*connection);
        if (connection->conversation.is_at_rest()) close_soon(*connection);
      });
    }
  }
}

// Publishes how many connections there are, and hands some over to a worker that has fewer; when retiring,
// all.
void EventLoop::balance() {
  LoadTable& table = *seat_->table;
  std::size_t count = connections_.count() - closing_.size();
  if (count != published_count_) {
    table.set_count(seat_->index, published_count_ = count);
    balance_end_ms_ = now_ms_ + kBalanceWatchMs;
  }
  const std::int32_t version = table.version();
  if (is_draining_ || (version == balanced_version_ && !is_balance_due_)) return;
  balanced_version_ = version;
  // Others move too, and nobody wakes a worker that has become one of those with too many: look again for a
  // while.
  is_balance_due_ = is_retiring_ || now_ms_ < balance_end_ms_;
  while (count > 0) {
    const std::optional<std::size_t> target =
        table.reserve_less_loaded(seat_->index, is_retiring_ ? LoadTable::kCountMax : count);
    if (!target) {
      if (is_retiring_) start_draining();  // nobody is there to take over
      return;
    }
    Connection* const connection = find_movable();
    if (connection == nullptr) {
      table.cancel(*target);
      is_balance_due_ = true;
      return;
    }
    // Counted away first: whoever the taker wakes by its new count must see ours as it will be.
    table.set_count(seat_->index, published_count_ = count - 1);
    if (!table.hand_over(*target, connection->fd.get(), connection->wait == Wait::next_request)) {
      table.set_count(seat_->index, published_count_ = count);
      is_balance_due_ = true;  // its queue is full for now
      return;
    }
    // A registration lives as long as the socket, which goes on living elsewhere.
    (void)poller_.remove(connection->fd.get());
    close_soon(*connection);
    --count;
  }
}

// A connection that owns nothing here: between two requests, or without any for a while.
Connection* EventLoop::find_movable() noexcept {
  for (const Wait wait : {Wait::next_request, Wait::first_request}) {
    Connection* connection = list_of(wait).front();
    while (connection != nullptr && (connection->is_closing || !connection->conversation.is_at_rest())) {
      connection = connection->next;
    }
    if (connection == nullptr) continue;
    const bool is_short_lived =
        wait == Wait::first_request && list_of(wait).age_ms(*connection, now_ms_) < kHandOverAgeMs;
    if (!is_short_lived || is_retiring_) return connection;
  }
  return nullptr;
}

void EventLoop::take_event(Connection& connection, std::uint32_t events) {
  if (connection.is_lingering) {
    drop_input(connection);
  } else if (connection.unsent != nullptr) {
    (events & (EPOLLERR | EPOLLHUP)) != 0 ? close_soon(connection) : write_unsent(connection);
  } else {
    read(connection);
  }
}

void EventLoop::read(Connection& connection) {
  echo::Conversation& conversation = connection.conversation;
  const Transfer transfer = receive(connection.fd.get(), conversation.receive_space(workspace_));
  switch (transfer.outcome) {
    case Outcome::would_block: return;
    case Outcome::failed: close_soon(connection); return;
    case Outcome::done: break;
  }
  counters_.received_size += transfer.size;
  if (transfer.size > 0) {
    flush(connection, conversation.received(transfer.size, workspace_));
  } else {
    connection.has_peer_finished = true;
    conversation.end_of_input(workspace_);
    flush(connection, 0);
  }
}

// Sends what the conversation has written, lets it go on where only that held it up, and decides what to wait
// for.
void EventLoop::flush(Connection& connection, std::size_t answered_count) {
  echo::Conversation& conversation = connection.conversation;
  WriteBuffer& out = workspace_.out;
  while (!out.empty()) {
    const std::string_view octets = out.unsent();
    const Transfer transfer = send(connection.fd.get(), octets);
    if (transfer.outcome == Outcome::failed) {
      out.clear();
      close_soon(connection);
      return;
    }
    counters_.sent_size += transfer.size;
    if (transfer.size < octets.size()) {
      keep_unsent(connection, octets.substr(transfer.size));
      out.clear();
      return;
    }
    out.clear();
    if (conversation.is_stopped()) answered_count += conversation.resume(workspace_);
  }
  if (conversation.is_over()) {
    connection.has_peer_finished ? close_soon(connection) : linger(connection);
    return;
  }
  const Wait wait = wait_of(conversation.awaited());
  if (is_draining_ && conversation.is_at_rest() && !has_waiting_input(connection.fd.get())) {
    linger(connection);  // its last answer was written before anybody knew that it would be the last
    return;
  }
  wait_for(connection, wait, answered_count > 0);
}

// A short write: reading rests until the peer has taken what it was sent.
void EventLoop::keep_unsent(Connection& connection, std::string_view octets) {
  auto unsent = std::make_unique<Unsent>();
  unsent->block = workspace_.pool.take(octets.size());
  unsent->size = octets.size();
  std::memcpy(unsent->block.octets.get(), octets.data(), octets.size());
  connection.unsent = std::move(unsent);
  if (!poller_.set_interest(connection.fd.get(), Interest::writable)) close_soon(connection);
  wait_for_write(connection);
}

void EventLoop::wait_for_write(Connection& connection) noexcept {
  connection.unsent->untaken_size = untaken_size(connection.fd.get());
  wait_for(connection, Wait::write, true);
}

void EventLoop::write_unsent(Connection& connection) {
  Unsent& unsent = *connection.unsent;
  const Transfer transfer = send(connection.fd.get(), unsent.octets());
  if (transfer.outcome == Outcome::failed) {
    close_soon(connection);
    return;
  }
  unsent.offset += transfer.size;
  counters_.sent_size += transfer.size;
  if (unsent.offset < unsent.size) {
    if (transfer.size > 0) wait_for_write(connection);
    return;
  }
  workspace_.pool.give_back(std::move(unsent.block));
  connection.unsent.reset();
  if (!poller_.set_interest(connection.fd.get(), Interest::readable)) close_soon(connection);
  const bool is_stopped = connection.conversation.is_stopped();
  flush(connection, is_stopped ? connection.conversation.resume(workspace_) : 1);
}

// Closes in stages, so that no reset destroys an answer that the peer has not read yet (RFC 9112 §9.6).
void EventLoop::linger(Connection& connection) {
  if (::shutdown(connection.fd.get(), SHUT_WR) != 0) {
    close_soon(connection);
    return;
  }
  connection.is_lingering = true;
  wait_for(connection, Wait::linger, true);
}

void EventLoop::drop_input(Connection& connection) {
  const Transfer transfer = receive(connection.fd.get(), workspace_.received.free_space());
  if (transfer.outcome == Outcome::would_block) return;
  counters_.received_size += transfer.size;
  connection.lingered_size += static_cast<std::uint32_t>(transfer.size);
  const bool is_finished = transfer.outcome == Outcome::failed || transfer.size == 0;
  if (is_finished || connection.lingered_size > options_.linger_size_max) close_soon(connection);
}

void EventLoop::close_soon(Connection& connection) noexcept {
  if (connection.is_closing) return;
  connection.is_closing = true;
  closing_.push_back(&connection);
}

void EventLoop::wait_for(Connection& connection, Wait wait, bool is_renewed) noexcept {
  if (connection.wait != wait) {
    list_of(connection.wait).remove(connection);
    connection.wait = wait;
    list_of(wait).push_back(connection, now_ms_);
  } else if (is_renewed) {
    list_of(wait).renew(connection, now_ms_);
  }
}

void EventLoop::expire() {
  const auto next_expired = [this](Wait wait) -> Connection* {
    Connection* connection = list_of(wait).front();
    while (connection != nullptr && connection->is_closing) connection = connection->next;
    return connection != nullptr && connection->deadline_ms <= now_ms_ ? connection : nullptr;
  };
  for (const Wait wait : {Wait::first_request, Wait::next_request, Wait::linger}) {
    while (Connection* connection = next_expired(wait)) close_soon(*connection);
  }
  while (Connection* connection = next_expired(Wait::write)) {
    // The socket takes more only when a good part of its buffer is free; a slow reader may be busy with the
    // rest.
    if (untaken_size(connection->fd.get()) < connection->unsent->untaken_size) {
      wait_for_write(*connection);
    } else {
      close_soon(*connection);
    }
  }
  for (const Wait wait : {Wait::head, Wait::body}) {
    while (Connection* connection = next_expired(wait)) {
      serve(*connection, [&] {
        connection->conversation.time_out(workspace_);
        flush(*connection, 0);
      });
    }
  }
}

// Only now, so that no event of the same batch finds a descriptor that has come to mean another connection.
void EventLoop::destroy_closing() {
  for (Connection* connection : closing_) {
    connection->conversation.abandon(workspace_);
    if (connection->unsent != nullptr) workspace_.pool.give_back(std::move(connection->unsent->block));
    list_of(connection->wait).remove(*connection);
    connections_.destroy(*connection);
  }
  if (!closing_.empty() && acceptor_.is_resting()) acceptor_.go_on();
  closing_.clear();
}

void EventLoop::release_spare() {
  if (!workspace_.is_grown() || now_ms_ - spare_released_ms_ < kSpareReleaseIntervalMs) return;
  spare_released_ms_ = now_ms_;
  workspace_.release_spare();
}

// Once a batch, so that whoever asks finds whole batches.
void EventLoop::count() {
  const auto& response_counts = workspace_.service.responses().counts();
  for (std::size_t i = 0; i < response_counts.size(); ++i) {
    counters_.response_counts[i] += response_counts[i] - counted_responses_[i];
  }
  counted_responses_ = response_counts;
  if (seat_) seat_->table->set_counters(seat_->index, counters_);
}

// Once a second, or when much has been collected. A reader that does not keep up loses lines; it never slows
// the server down.
void EventLoop::write_access_log() {
  echo::AccessLog& log = *workspace_.access_log;
  if (log.lines().empty()) return;
  if (log.lines().size() < kAccessLogSizeMin && now_ms_ - access_log_written_ms_ < kAccessLogIntervalMs)
    return;
  access_log_written_ms_ = now_ms_;
  log.consume(access_log_output_->write(log.lines()));
  // What the reader has no room for is offered again soon.
  if (!log.lines().empty()) access_log_written_ms_ -= kAccessLogIntervalMs - kAccessLogRetryMs;
  if (log.lines().size() > kAccessLogSizeMax) {
    log_line(fmt::format("access log: {} octets lost, the reader is too slow", log.lines().size()));
    log.consume(log.lines().size());
  }
}

// At the end a slow reader is waited for, for a moment.
void EventLoop::write_last_access_log() {
  echo::AccessLog& log = *workspace_.access_log;
  const std::int64_t end_ms = read_clock_ms(CLOCK_MONOTONIC) + kAccessLogEndWaitMs;
  log.consume(access_log_output_->write(log.lines()));
  while (!log.lines().empty() && exit_status_ == 0) {
    const std::int64_t rest_ms = end_ms - read_clock_ms(CLOCK_MONOTONIC);
    if (rest_ms <= 0) return;
    access_log_output_->wait(static_cast<int>(rest_ms));
    log.consume(access_log_output_->write(log.lines()));
  }
}

}  // namespace rest_echo::net
