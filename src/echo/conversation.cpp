#include "rest_echo/echo/conversation.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace rest_echo::echo {
namespace {

using Outcome = http::RequestParser::Outcome;

// A body of which this much is still to come is received straight into its connection's buffer.
constexpr std::size_t kDirectReceiveSizeMin = Workspace::kReceiveSize / 4;

constexpr std::size_t kSendSize = 64 * 1024;

std::string_view view(std::span<const char> octets) { return {octets.data(), octets.size()}; }

}  // namespace

Workspace::Workspace(const http::Limits& request_limits, json::Mode mode)
    : limits(request_limits),
      service(mode),
      received(Block{std::make_unique<char[]>(kReceiveSize + kPaddingSize), kReceiveSize + kPaddingSize}),
      out(kSendSize),
      parser(limits) {
  spare_partials_.reserve(kSparePartialCountMax);
}

void Workspace::log_response_now(const http::RequestParser& request_parser, std::string_view unread) {
  const http::Request& request = request_parser.request();
  const http::ResponseWriter::Written& response = service.responses().last();
  const bool is_answered_with_health =
      request.has_health_path && !request.announces_content &&
      (request.method == http::Method::get || request.method == http::Method::head) &&
      (response.status == http::Status::ok || response.status == http::Status::service_unavailable);
  if (is_answered_with_health) return;
  access_log->add(client, request_parser.request_line(unread), response);
}

std::unique_ptr<PartialRequest> Workspace::take_partial() {
  if (spare_partials_.empty()) return std::make_unique<PartialRequest>(limits);
  std::unique_ptr<PartialRequest> partial = std::move(spare_partials_.back());
  spare_partials_.pop_back();
  return partial;
}

void Workspace::give_back(std::unique_ptr<PartialRequest> partial) noexcept {
  if (partial == nullptr) return;
  partial->buffer.release_to(pool);
  if (spare_partials_.size() < kSparePartialCountMax) spare_partials_.push_back(std::move(partial));
}

void Workspace::release_spare() noexcept {
  service.release_spare();
  if (out.is_grown() && out.empty()) out.shrink();
}

void Workspace::reset() {
  received.clear();
  parser = http::RequestParser(limits);
  service.release_spare();
}

bool Conversation::receives_directly() const noexcept {
  if (partial_ == nullptr || !partial_->parser.is_head_complete()) return false;
  return partial_->parser.message_size_expected() >= partial_->buffer.unread_size() + kDirectReceiveSizeMin;
}

std::span<char> Conversation::receive_space(Workspace& workspace) noexcept {
  if (!receives_directly()) return workspace.received.free_space();
  const std::size_t size_due = partial_->parser.message_size_expected() - partial_->buffer.unread_size();
  return partial_->buffer.free_space().first(size_due);
}

std::size_t Conversation::received(std::size_t size, Workspace& workspace) {
  assert(!is_over_ && !is_stopped_);
  has_received_ = true;
  if (partial_ == nullptr) {
    workspace.received.fill(size);
    bool is_head_judged = false;
    const std::size_t answered_count =
        answer_all(workspace.parser, workspace.received, is_head_judged, workspace);
    set_rest_aside(is_head_judged, workspace);
    return answered_count;
  }
  ReadBuffer& buffer = partial_->buffer;
  if (receives_directly()) {
    buffer.fill(size);
  } else {
    buffer.append(workspace.received.free_space().first(size), workspace.pool);
  }
  return resume(workspace);
}

std::size_t Conversation::resume(Workspace& workspace) {
  assert(partial_ != nullptr && !is_over_);
  is_stopped_ = false;
  const std::size_t answered_count =
      answer_all(partial_->parser, partial_->buffer, partial_->is_head_judged, workspace);
  if (is_over_) {
    end(workspace);
  } else if (partial_->buffer.unread_size() == 0) {
    workspace.give_back(std::move(partial_));
  } else {
    partial_->buffer.truncate(partial_->parser.retained_size(partial_->buffer.unread_size()));
    partial_->buffer.fit(partial_->parser.message_size_expected(), workspace.pool);
  }
  return answered_count;
}

// Answers every complete request of `buffer`, in order.
std::size_t Conversation::answer_all(http::RequestParser& parser, ReadBuffer& buffer, bool& is_head_judged,
                                     Workspace& workspace) {
  WriteBuffer& out = workspace.out;
  for (std::size_t answered_count = 0;; ++answered_count) {
    if (buffer.unread_size() == 0) return answered_count;
    if (out.size() >= Workspace::kUnsentSizeMax) {
      is_stopped_ = true;
      return answered_count;
    }
    const std::span<char> unread = buffer.unread();
    Outcome outcome = parser.parse_head(view(unread));
    if (outcome == Outcome::complete) {
      if (!is_head_judged && !judge_head(parser, view(unread), workspace)) {
        is_over_ = true;
        return answered_count;
      }
      is_head_judged = true;
      outcome = parser.parse_body(unread);
    }
    switch (outcome) {
      case Outcome::need_more: return answered_count;
      case Outcome::failed:
        workspace.service.answer_fault(parser.request(), parser.fault(), out);
        workspace.log_response(parser, view(unread));
        is_over_ = true;
        return answered_count;
      case Outcome::complete: break;
    }
    buffer.pad();
    const bool goes_on = workspace.service.answer(parser.request(), parser.content(view(unread)), out);
    workspace.log_response(parser, view(unread));
    buffer.consume(parser.message_size());
    parser = http::RequestParser(workspace.limits);
    is_head_judged = false;
    if (!goes_on) {
      is_over_ = true;
      return answered_count + 1;
    }
  }
}

// A client that waits for 100 Continue gets it, or its final answer, before it sends the content
// (RFC 9110 §10.1.1). After such an answer nobody knows whether the content will come: close. Returns whether
// the request goes on.
bool Conversation::judge_head(const http::RequestParser& parser, std::string_view unread,
                              Workspace& workspace) {
  const http::Request& request = parser.request();
  if (!request.announces_content || !(request.expects_continue || request.has_unknown_expectation))
    return true;
  if (const Refusal refusal = Service::find_refusal(request); refusal != Refusal::none) {
    workspace.service.refuse_early(request, refusal, workspace.out);
    workspace.log_response(parser, unread);
    return false;
  }
  if (!parser.has_body_begun(unread.size())) http::ResponseWriter::write_continue(workspace.out);
  return true;
}

// What the shared buffer still holds becomes this conversation's own, and the shared parser is made ready for
// the next one.
void Conversation::set_rest_aside(bool is_head_judged, Workspace& workspace) {
  ReadBuffer& received = workspace.received;
  http::RequestParser& parser = workspace.parser;
  if (!is_over_ && received.unread_size() == 0) return;
  if (!is_over_) {
    partial_ = workspace.take_partial();
    partial_->parser = parser;
    partial_->is_head_judged = is_head_judged;
    const std::span<char> rest = received.unread().first(parser.retained_size(received.unread_size()));
    partial_->buffer.reserve(std::max(rest.size(), parser.message_size_expected()), workspace.pool);
    partial_->buffer.append(rest, workspace.pool);
  }
  received.clear();
  parser = http::RequestParser(workspace.limits);
}

void Conversation::end_of_input(Workspace& workspace) {
  if (partial_ != nullptr && partial_->parser.has_begun()) {
    workspace.service.answer_fault(partial_->parser.request(), http::RequestFault::incomplete, workspace.out);
    workspace.log_response(partial_->parser, view(partial_->buffer.unread()));
  }
  end(workspace);
}

void Conversation::run_out_of_memory(Workspace& workspace) {
  workspace.reset();
  workspace.service.answer_out_of_memory(workspace.out);
  end(workspace);
}

void Conversation::time_out(Workspace& workspace) {
  if (partial_ != nullptr && partial_->parser.has_begun()) {
    workspace.service.answer_timeout(partial_->parser.request(), workspace.out);
    workspace.log_response(partial_->parser, view(partial_->buffer.unread()));
  }
  end(workspace);
}

void Conversation::abandon(Workspace& workspace) noexcept { end(workspace); }

void Conversation::end(Workspace& workspace) noexcept {
  is_over_ = true;
  is_stopped_ = false;
  workspace.give_back(std::move(partial_));
}

Conversation::Awaited Conversation::awaited() const noexcept {
  if (partial_ != nullptr && partial_->parser.has_begun()) {
    return partial_->parser.is_head_complete() ? Awaited::rest_of_body : Awaited::rest_of_head;
  }
  return has_received_ ? Awaited::next_request : Awaited::first_request;
}

}  // namespace rest_echo::echo
