#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "e2e/eventually.hpp"
#include "rest_echo/net/unique_fd.hpp"

namespace rest_echo::e2e {

/// A response as it came; `status` 0: none came whole.
struct Response {
  int status = 0;
  std::string head;  ///< with its empty line
  std::string content;

  /// The value of a field, or "" where it is not there.
  [[nodiscard]] std::string field(std::string_view name) const;
  [[nodiscard]] bool says_close() const { return field("Connection") == "close"; }
};

/// How a connection came to its end.
enum class End { finished, reset, goes_on };

struct ClientOptions {
  std::string host = "127.0.0.1";
  int receive_buffer_size = 0;  ///< 0: the kernel's choice
  int segment_size_max = 0;     ///< 0: the kernel's choice
};

/// A TCP connection that waits no longer than it has patience for.
class Client {
 public:
  /// Throws std::system_error where there is no connection.
  explicit Client(std::uint16_t port, const ClientOptions& options = {});

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

  /// Whether the kernel has taken it all.
  bool send(std::string_view octets, Milliseconds patience = kPatience);
  /// Octets taken without waiting.
  [[nodiscard]] std::size_t send_some(std::string_view octets);
  void finish_sending();
  /// Closes so that the peer gets a reset.
  void reset();

  /// The next response. To HEAD there is none but the head.
  [[nodiscard]] Response receive(bool has_content = true, Milliseconds patience = kPatience);
  [[nodiscard]] Response ask(std::string_view request) {
    send(request);
    return receive();
  }
  /// Waits for the end, and keeps what comes before it.
  [[nodiscard]] End wait_for_end(Milliseconds patience = kPatience);
  /// Octets that have come and are part of no response given out.
  [[nodiscard]] const std::string& received() const noexcept { return received_; }
  /// Whether octets come within this time, or have come.
  [[nodiscard]] bool has_received_within(Milliseconds patience);
  /// Takes at most so many octets of what is there, without waiting, and forgets them. Octets taken.
  std::size_t discard_some(std::size_t size_max);

 private:
  enum class Read { some, none, end, reset };
  Read read_within(Milliseconds patience);

  net::UniqueFd fd_;
  std::string received_;
};

/// Whether a connection is accepted at all.
[[nodiscard]] bool can_connect(std::uint16_t port, const std::string& host = "127.0.0.1");

}  // namespace rest_echo::e2e
