// The floor: epoll, recv, send of a fixed answer, nothing parsed. What is left of a request's cost when a
// server does nothing; the yardstick for rest-echo and the ceiling of the load generator. Not an HTTP server:
// it takes the end of a recv() for the end of a request.
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::size_t kReceiveSize = 64 * 1024;

std::string make_answer(std::size_t content_size, std::string_view media_type) {
  return fmt::format(
      "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Type: {}\r\nContent-Length: "
      "{}\r\n\r\n{}",
      media_type, content_size, std::string(content_size, 'x'));
}

int listen_on(std::uint16_t port) {
  const int listener = ::socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int one = 1;
  const int zero = 0;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one);
  ::setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  ::setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof zero);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener, 4096) != 0) {
    std::perror("floor: cannot listen");
    std::exit(1);  // NOLINT(concurrency-mt-unsafe): one thread
  }
  return listener;
}

[[noreturn]] void serve(int listener, const std::string& answer) {
  const int poller = ::epoll_create1(EPOLL_CLOEXEC);
  const auto watch = [poller](int fd) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    ::epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
  };
  watch(listener);
  std::vector<char> received(kReceiveSize);
  std::array<epoll_event, 256> events{};
  for (;;) {
    const int count = ::epoll_wait(poller, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd == listener) {
        const int accepted = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (accepted >= 0) watch(accepted);
      } else if (::recv(fd, received.data(), received.size(), 0) > 0) {
        (void)!::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
      } else {
        ::close(fd);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::uint16_t port = 3001;
  std::size_t content_size = 2200;
  int worker_count = 1;
  bool is_hello = false;
  CLI::App app("Answers whatever arrives with a fixed response: the floor under every server's cost.",
               "floor");
  app.add_option("-p,--port", port, "Port to listen on")->capture_default_str();
  app.add_option("--size", content_size, "Octets of content in the answer")->capture_default_str();
  app.add_option("-w,--workers", worker_count, "Processes")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  app.add_flag("--hello", is_hello, "Answer as Hello World does: 11 octets of text");
  CLI11_PARSE(app, argc, argv);

  const std::string answer =
      is_hello ? make_answer(11, "text/plain; charset=utf-8") : make_answer(content_size, "application/json");
  const int first_listener = listen_on(port);
  sockaddr_in6 bound{};
  socklen_t size = sizeof bound;
  ::getsockname(first_listener, reinterpret_cast<sockaddr*>(&bound), &size);
  port = ntohs(bound.sin6_port);
  for (int i = 1; i < worker_count; ++i) {
    if (::fork() == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);
      serve(listen_on(port), answer);
    }
  }
  fmt::print("Listening on port {}\n", port);
  std::fflush(stdout);
  serve(first_listener, answer);
}
