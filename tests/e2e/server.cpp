#include "e2e/server.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <utility>

namespace rest_echo::e2e {
namespace {

Launch launch_of(std::vector<std::string> arguments, Launch launch) {
  launch.command.push_back(server_program());
  launch.command.emplace_back("--port");
  launch.command.emplace_back("0");
  launch.command.insert(launch.command.end(), arguments.begin(), arguments.end());
  return launch;
}

}  // namespace

std::uint16_t find_free_port() {
  // Below the ports of outgoing connections, and elsewhere in each test program.
  constexpr int kFirst = 12'000;
  constexpr int kCount = 20'000;
  static int next = ::getpid() * 37;
  for (int tries = 0; tries < kCount; ++tries) {
    const auto port = static_cast<std::uint16_t>(kFirst + next++ % kCount);
    const net::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return port;
  }
  throw std::runtime_error("no port is free");
}

std::uint16_t find_port(const std::string& output) {
  constexpr std::string_view kReady = "Listening on port ";
  const std::size_t begin = output.find(kReady);
  if (begin == std::string::npos || output.find('\n', begin) == std::string::npos) return 0;
  return static_cast<std::uint16_t>(std::stoul(output.substr(begin + kReady.size())));
}

Server::Server(std::vector<std::string> arguments, Launch launch)
    : process_(launch_of(std::move(arguments), std::move(launch))) {
  const auto is_settled = [this] {
    port_ = find_port(process_.output());
    return port_ != 0 || process_.wait_for_end(Milliseconds{0}).has_value();
  };
  if (!eventually(is_settled) || port_ == 0) {
    throw std::runtime_error("the server does not listen: " + process_.output() + process_.errors());
  }
}

Server::~Server() {
  if (!has_ended_) {
    const std::optional<int> status = process_.wait_for_end(Milliseconds{0});
    EXPECT_FALSE(status.has_value()) << "the server ended by itself, with " << *status;
  }
  const std::string errors = process_.errors();
  EXPECT_EQ(errors.find("Sanitizer"), std::string::npos) << errors;
  EXPECT_EQ(errors.find("runtime error"), std::string::npos) << errors;
}

std::string Server::url(const std::string& target) const {
  return "http://127.0.0.1:" + std::to_string(port_) + target;
}

int Server::stop() {
  process_.send_signal(SIGTERM);
  return wait_for_end();
}

int Server::wait_for_end(Milliseconds patience) {
  has_ended_ = true;
  return process_.wait_for_end(patience).value_or(-1);
}

}  // namespace rest_echo::e2e
