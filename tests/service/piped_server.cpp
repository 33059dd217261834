#include "service/piped_server.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>

#include "e2e/server.hpp"
#include "service/sockets.hpp"

namespace rest_echo::e2e {

PipedServer::PipedServer(std::vector<std::string> arguments, int pipe_size) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe2");
  reading_ = net::UniqueFd(ends[0]);
  const net::UniqueFd writing(ends[1]);
  ::fcntl(reading_.get(), F_SETFL, O_NONBLOCK);
  arguments.insert(arguments.begin(), {server_program(), "--port", "0"});
  process_.emplace(Launch{.command = std::move(arguments),
                          .output_file = "/proc/self/fd/" + std::to_string(writing.get())});
  const auto is_settled = [this] {
    port_ = find_port(read());
    return port_ != 0 || process_->wait_for_end(Milliseconds{0}).has_value();
  };
  if (!eventually(is_settled) || port_ == 0) {
    throw std::runtime_error("the server does not listen: " + text_ + process_->errors());
  }
  text_.erase(0, text_.find('\n', text_.find("Listening on port ")) + 1);
  if (pipe_size > 0) ::fcntl(reading_.get(), F_SETPIPE_SZ, pipe_size);
}

PipedServer::~PipedServer() {
  if (process_) expect_no_complaint(*process_);
}

std::string PipedServer::url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/"; }

const std::string& PipedServer::read(std::size_t size_max) {
  std::array<char, 65536> piece;
  while (size_max > 0) {
    const ssize_t size = ::read(reading_.get(), piece.data(), std::min(piece.size(), size_max));
    if (size <= 0) break;
    text_.append(piece.data(), static_cast<std::size_t>(size));
    size_max -= static_cast<std::size_t>(size);
  }
  return text_;
}

int PipedServer::stop() {
  process_->send_signal(SIGTERM);
  const auto has_ended = [this] {
    const bool is_over = process_->wait_for_end(Milliseconds{0}).has_value();
    read();
    return is_over;
  };
  (void)eventually(has_ended);
  return process_->wait_for_end(Milliseconds{0}).value_or(-1);
}

}  // namespace rest_echo::e2e
