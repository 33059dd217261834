#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string_view>

#include "rest_echo/bytes/write_buffer.hpp"
#include "rest_echo/http/request.hpp"
#include "rest_echo/http/request_fault.hpp"
#include "rest_echo/http/response_writer.hpp"
#include "rest_echo/json/body.hpp"
#include "rest_echo/json/body_reader.hpp"
#include "rest_echo/json/document_rewriter.hpp"
#include "rest_echo/json/fault_locator.hpp"

namespace rest_echo::echo {

/// Why a request whose head is sound is refused for what it means (RFC 9110).
enum class Refusal : std::uint8_t {
  none,
  bad_target,
  bad_host,
  unknown_method,
  method_not_allowed,
  unknown_expectation,
  unsupported_content_coding,
};

/// What a request means: its answer. Holds what all answers of one worker share: the JSON codec, the time.
class Service {
 public:
  explicit Service(json::Mode mode) noexcept : mode_(mode) {}

  /// The time of the answers that follow.
  void set_time(std::time_t seconds_since_epoch) { response_writer_.set_time(seconds_since_epoch); }
  /// From now on answers close their connection, and the health check says 503.
  void start_draining() noexcept { is_draining_ = true; }
  [[nodiscard]] bool is_draining() const noexcept { return is_draining_; }

  /// Decided by the head alone, whatever the content.
  [[nodiscard]] static Refusal find_refusal(const http::Request& request) noexcept;

  /// Answers a complete request. `content` is followed by kPaddingSize readable octets. Returns whether the
  /// connection may go on.
  bool answer(const http::Request& request, std::string_view content, WriteBuffer& out);
  /// Refuses a request before its content has come, and closes.
  void refuse_early(const http::Request& request, Refusal refusal, WriteBuffer& out);
  /// Answers octets that are no request, and closes. `request` is what is known of it.
  void answer_fault(const http::Request& request, http::RequestFault fault, WriteBuffer& out);
  /// Answers whatever this machine has no memory for, and closes.
  void answer_out_of_memory(WriteBuffer& out);
  /// Answers a request that was not complete in time, and closes.
  void answer_timeout(const http::Request& request, WriteBuffer& out);

  /// The last response, and how many there were.
  [[nodiscard]] const http::ResponseWriter& responses() const noexcept { return response_writer_; }

  [[nodiscard]] bool storage_is_large() const noexcept;
  /// Gives back what large bodies made the codec take.
  void release_spare() noexcept;

 private:
  struct Problem;

  void answer_echo(const http::Request& request, std::string_view content, WriteBuffer& out);
  void answer_json_fault(const http::Request& request, std::string_view content, WriteBuffer& out);
  void answer_without_content(const http::Request& request, WriteBuffer& out);
  void answer_refusal(const http::Request& request, Refusal refusal, http::Persistence persistence,
                      WriteBuffer& out);
  void write_problem(const http::Request& request, const Problem& problem, http::Persistence persistence,
                     WriteBuffer& out);
  [[nodiscard]] http::Persistence persistence_of(const http::Request& request) const noexcept;

  json::Mode mode_;
  bool is_draining_ = false;
  http::ResponseWriter response_writer_;
  json::BodyReader body_reader_;
  json::Body body_;
  json::DocumentRewriter document_rewriter_;
};

}  // namespace rest_echo::echo
