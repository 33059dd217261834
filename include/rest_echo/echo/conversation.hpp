#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "rest_echo/bytes/block_pool.hpp"
#include "rest_echo/bytes/read_buffer.hpp"
#include "rest_echo/bytes/write_buffer.hpp"
#include "rest_echo/echo/access_log.hpp"
#include "rest_echo/echo/service.hpp"
#include "rest_echo/http/limits.hpp"
#include "rest_echo/http/request_parser.hpp"

namespace rest_echo::echo {

/// A request that has begun to arrive: how far it has been read, and the octets that must be kept.
struct PartialRequest {
  explicit PartialRequest(const http::Limits& limits) noexcept : parser(limits) {}

  http::RequestParser parser;
  ReadBuffer buffer;
  /// Whether the head has been judged before its content came (100 Continue, early refusals).
  bool is_head_judged = false;
};

/// What all conversations of one worker share, one at a time: buffers, and the service that answers.
class Workspace {
 public:
  static constexpr std::size_t kReceiveSize = 64 * 1024;
  /// Answers are collected up to this much before they must be sent; one answer may go beyond.
  static constexpr std::size_t kUnsentSizeMax = 256 * 1024;

  Workspace(const http::Limits& limits, json::Mode mode);
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  /// Notes the response just written, if there is a log and this was no health check.
  void log_response(const http::RequestParser& request_parser, std::string_view unread) {
    if (access_log) log_response_now(request_parser, unread);
  }

  [[nodiscard]] std::unique_ptr<PartialRequest> take_partial();
  void give_back(std::unique_ptr<PartialRequest> partial) noexcept;

  /// Whether a large request has made something grow; release_spare() gives it back, when `out` is empty.
  [[nodiscard]] bool is_grown() const noexcept { return service.storage_is_large() || out.is_grown(); }
  void release_spare() noexcept;
  /// Forgets the request at hand; the answers before it stay in `out`.
  void reset();

  const http::Limits limits;
  Service service;
  BlockPool pool;
  ReadBuffer received;
  WriteBuffer out;
  /// Reads requests that arrive whole; set aside as a PartialRequest when one does not.
  http::RequestParser parser;
  std::optional<AccessLog> access_log;
  /// The address of the peer whose conversation goes on, where there is a log.
  std::string_view client;

 private:
  void log_response_now(const http::RequestParser& request_parser, std::string_view unread);

  static constexpr std::size_t kSparePartialCountMax = 64;
  std::vector<std::unique_ptr<PartialRequest>> spare_partials_;
};

/// One connection's side of HTTP/1.1: octets received go in, octets to send come out, in the workspace's
/// `out`. Knows no socket and no clock. At rest it owns nothing.
class Conversation {
 public:
  /// What the peer is to send next.
  enum class Awaited : std::uint8_t { first_request, next_request, rest_of_head, rest_of_body };

  /// Where the next octets are to be received; received() must follow at once, as the space is shared.
  [[nodiscard]] std::span<char> receive_space(Workspace& workspace) noexcept;
  /// `size` octets have been received there. Answers what is complete. Returns the count of requests
  /// answered.
  std::size_t received(std::size_t size, Workspace& workspace);
  /// Goes on where is_stopped() made it stop, now that `out` is empty. Returns the count of requests
  /// answered.
  std::size_t resume(Workspace& workspace);
  /// The peer sends no more. is_over() holds afterwards.
  void end_of_input(Workspace& workspace);
  /// There was no memory for the request at hand. is_over() holds afterwards.
  void run_out_of_memory(Workspace& workspace);
  /// The peer took too long. is_over() holds afterwards.
  void time_out(Workspace& workspace);
  /// Gives back what it owns; the conversation ends here.
  void abandon(Workspace& workspace) noexcept;

  /// It goes on where another process's left off: there have been requests.
  void note_earlier_requests() noexcept { has_received_ = true; }

  [[nodiscard]] Awaited awaited() const noexcept;
  /// Between two requests, or before the first: it owns nothing, and another one could go on in its place.
  [[nodiscard]] bool is_at_rest() const noexcept { return partial_ == nullptr && !is_over_; }
  /// Nothing more is read or answered: send what is in `out`, then close.
  [[nodiscard]] bool is_over() const noexcept { return is_over_; }
  /// More may be answerable, but `out` holds enough: send it all, then resume().
  [[nodiscard]] bool is_stopped() const noexcept { return is_stopped_; }

 private:
  [[nodiscard]] bool receives_directly() const noexcept;
  std::size_t answer_all(http::RequestParser& parser, ReadBuffer& buffer, bool& is_head_judged,
                         Workspace& workspace);
  bool judge_head(const http::RequestParser& parser, std::string_view unread, Workspace& workspace);
  void set_rest_aside(bool is_head_judged, Workspace& workspace);
  void end(Workspace& workspace) noexcept;

  std::unique_ptr<PartialRequest> partial_;
  bool has_received_ = false;
  bool is_over_ = false;
  bool is_stopped_ = false;
};

}  // namespace rest_echo::echo
