#include "cluster/workers.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "e2e/requests.hpp"

namespace rest_echo::e2e {
namespace {

namespace fs = std::filesystem;

std::string proc_file(pid_t pid, const std::string& name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

struct Stat {
  char state = '\0';  // or nothing where there is no such process
  pid_t parent = 0;
};

// The process may end while this reads: then a stream fails, but throws nothing.
Stat stat_of(pid_t pid) {
  std::ifstream file(proc_file(pid, "stat"));
  std::string text;
  std::getline(file, text);
  std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  Stat stat;
  fields >> stat.state >> stat.parent;
  return stat;
}

std::uint16_t read_port(const std::string& address) {
  return static_cast<std::uint16_t>(std::stoul(address.substr(address.rfind(':') + 1), nullptr, 16));
}

// Clients' ports of the connections to `port` that somebody owns, by the inode of the server's socket.
std::map<std::string, std::uint16_t> connections_by_inode(std::uint16_t port) {
  constexpr const char* kEstablished = "01";
  constexpr const char* kClosedByPeer = "08";
  std::map<std::string, std::uint16_t> connections;
  for (const char* file : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream table(file);
    std::string line;
    std::getline(table, line);  // the heading
    while (std::getline(table, line)) {
      std::istringstream fields(line);
      std::string number;
      std::string local;
      std::string remote;
      std::string state;
      std::string other;
      std::string inode;
      fields >> number >> local >> remote >> state;
      for (int i = 0; i < 5; ++i) fields >> other;  // queues, timer, retransmissions, user, time-out
      fields >> inode;
      if ((state == kEstablished || state == kClosedByPeer) && read_port(local) == port && inode != "0") {
        connections.emplace(inode, read_port(remote));
      }
    }
  }
  return connections;
}

}  // namespace

std::vector<pid_t> workers_of(pid_t parent) {
  std::vector<pid_t> workers;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto pid = static_cast<pid_t>(std::stol(name));
    if (stat_of(pid).parent == parent) workers.push_back(pid);
  }
  std::ranges::sort(workers);
  return workers;
}

std::vector<pid_t> wait_for_workers(pid_t parent, std::size_t count, const std::vector<pid_t>& gone) {
  std::vector<pid_t> workers;
  const bool are_there = eventually([&] {
    workers = workers_of(parent);
    return workers.size() == count && std::ranges::all_of(workers, is_running) &&
           std::ranges::none_of(workers, [&](pid_t pid) { return std::ranges::count(gone, pid) > 0; });
  });
  EXPECT_TRUE(are_there) << workers.size() << " workers instead of " << count;
  return workers;
}

bool is_running(pid_t pid) {
  const char state = stat_of(pid).state;
  return state != '\0' && state != 'Z' && state != 'X';
}

bool are_all_gone(const std::vector<pid_t>& pids) { return std::ranges::none_of(pids, is_running); }

void stop_process(pid_t pid) {
  ::kill(pid, SIGSTOP);
  EXPECT_TRUE(eventually([pid] { return stat_of(pid).state == 'T'; }));
}

std::map<std::uint16_t, pid_t> owners_of(std::uint16_t port, const std::vector<pid_t>& workers) {
  const std::map<std::string, std::uint16_t> connections = connections_by_inode(port);
  std::map<std::uint16_t, pid_t> owners;
  for (const pid_t worker : workers) {
    std::error_code error;
    for (fs::directory_iterator it(proc_file(worker, "fd"), error), end; !error && it != end;
         it.increment(error)) {
      std::error_code gone;
      const std::string target = fs::read_symlink(it->path(), gone);
      constexpr std::string_view kSocket = "socket:[";
      if (!target.starts_with(kSocket)) continue;
      const auto connection =
          connections.find(target.substr(kSocket.size(), target.size() - kSocket.size() - 1));
      if (connection != connections.end()) owners[connection->second] = worker;
    }
  }
  return owners;
}

std::uint16_t local_port(const Client& client) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getsockname(client.fd(), reinterpret_cast<sockaddr*>(&storage), &size) != 0) return 0;
  // The port is in the same place for both IP versions.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
}

std::vector<std::size_t> connection_counts(std::uint16_t port, const std::vector<pid_t>& workers) {
  std::vector<std::size_t> counts(workers.size());
  for (const auto& [client_port, owner] : owners_of(port, workers)) {
    ++counts[static_cast<std::size_t>(std::ranges::find(workers, owner) - workers.begin())];
  }
  return counts;
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Load::Load(const Server& server, int connection_count, int duration_s, std::vector<std::string> more)
    : process_([&] {
        std::vector<std::string> command{"wrk",
                                         "--threads=2",
                                         "--connections=" + std::to_string(connection_count),
                                         "--duration=" + std::to_string(duration_s) + "s",
                                         "--timeout=20s",
                                         "--script=" + source_file("post.lua")};
        command.insert(command.end(), more.begin(), more.end());
        command.push_back(server.url());
        return Launch{.command = std::move(command)};
      }()) {}

Load::Report Load::wait_for_end() {
  Report report;
  report.has_ended_well = process_.wait_for_end(3 * kPatience) == 0;
  report.text = process_.output() + process_.errors();
  report.has_socket_errors = report.text.find("Socket errors") != std::string::npos;
  report.has_other_statuses = report.text.find("Non-2xx") != std::string::npos;
  for (const std::string& line : lines_of(report.text)) {
    if (line.find(" requests in ") != std::string::npos) report.request_count = std::stoull(line);
  }
  return report;
}

Clients connect_clients(std::uint16_t port, std::size_t count) {
  Clients clients;
  for (std::size_t i = 0; i < count; ++i) clients.push_back(std::make_unique<Client>(port));
  return clients;
}

std::size_t answered_count(const Clients& clients) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    const std::string document = numbered_document(i);
    const Response response = clients[i]->ask(post(document));
    if (response.status == 200 && response.content == document) ++count;
  }
  return count;
}

}  // namespace rest_echo::e2e
