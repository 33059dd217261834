#include "rest_echo/echo/service.hpp"

#include <fmt/format.h>

#include <cassert>
#include <iterator>
#include <string>

#include "rest_echo/json/body_writer.hpp"

namespace rest_echo::echo {
namespace {

using http::MediaType;
using http::Method;
using http::Persistence;
using http::RequestFault;
using http::Status;

constexpr std::string_view kHello = "Hello World";
constexpr std::string_view kHealthy = R"({"status":"ok"})";
constexpr std::string_view kAllow = "Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n";
constexpr std::string_view kAcceptEncoding = "Accept-Encoding: identity\r\n";

struct Explanation {
  Status status;
  std::string_view detail;
};

Explanation explain(RequestFault fault) {
  using enum RequestFault;
  switch (fault) {  // no default: the compiler names a fault we forgot
    case none: break;
    case incomplete: return {Status::bad_request, "The connection ended inside a request."};
    case repeated_empty_line: return {Status::bad_request, "More than one empty line before a request."};
    case bare_line_end: return {Status::bad_request, "A line does not end with CR LF."};
    case bad_method: return {Status::bad_request, "The method is not a token followed by one space."};
    case method_too_long: return {Status::bad_request, "The method is too long."};
    case bad_request_target:
      return {Status::bad_request, "The request-target is empty or has a control or a wrong space."};
    case request_target_too_long: return {Status::uri_too_long, "The request-target is too long."};
    case bad_version:
      return {Status::bad_request, "The request line does not end with HTTP/1.1 or HTTP/1.0."};
    case unsupported_version:
      return {Status::http_version_not_supported, "Only HTTP/1.1 and HTTP/1.0 are spoken here."};
    case bad_field_line: return {Status::bad_request, "A field line is not name, colon, value."};
    case head_too_large: return {Status::request_header_fields_too_large, "The header section is too large."};
    case bad_content_length: return {Status::bad_request, "Content-Length is not a decimal number."};
    case repeated_content_length: return {Status::bad_request, "Content-Length is there more than once."};
    case content_length_and_transfer_encoding:
      return {Status::bad_request, "Content-Length and Transfer-Encoding exclude each other."};
    case bad_transfer_encoding:
      return {Status::bad_request, "Transfer-Encoding is not chunked, once and last."};
    case transfer_encoding_in_http_1_0: return {Status::bad_request, "HTTP/1.0 has no Transfer-Encoding."};
    case unknown_transfer_coding:
      return {Status::not_implemented, "The only transfer coding known here is chunked."};
    case content_too_large:
      return {Status::content_too_large, "The content is larger than this server accepts."};
    case bad_chunk: return {Status::bad_request, "The chunked content is malformed."};
    case chunk_extensions_too_large: return {Status::bad_request, "The chunk extensions are too large."};
    case bad_trailer: return {Status::bad_request, "The trailer section is malformed."};
    case trailer_section_too_large:
      return {Status::request_header_fields_too_large, "The trailer section is too large."};
  }
  assert(false);
  return {Status::internal_server_error, "No fault."};
}

struct RefusalExplanation {
  Status status;
  std::string_view detail;
  std::string_view more_field_lines;
};

RefusalExplanation explain(Refusal refusal) {
  using enum Refusal;
  switch (refusal) {  // no default: the compiler names a refusal we forgot
    case none: break;
    case bad_target:
      return {Status::bad_request, "The request-target has no form that this method may use.", ""};
    case bad_host: return {Status::bad_request, "One Host field with a valid host is required.", ""};
    case unknown_method: return {Status::not_implemented, "The method is not known here.", ""};
    case method_not_allowed: return {Status::method_not_allowed, "The method is not allowed here.", kAllow};
    case unknown_expectation:
      return {Status::expectation_failed, "The only expectation known here is 100-continue.", ""};
    case unsupported_content_coding:
      return {Status::unsupported_media_type, "Content codings other than identity are not understood.",
              kAcceptEncoding};
  }
  assert(false);
  return {Status::internal_server_error, "No refusal.", ""};
}

std::string_view explain(json::FaultCode code) {
  using enum json::FaultCode;
  switch (code) {  // no default: the compiler names a code we forgot
    case empty_body: return "A JSON document is due, but the body is empty.";
    case invalid_utf8: return "The body is not well-formed UTF-8; the offset is where it goes wrong.";
    case invalid_json: return "The body is not a JSON document; the offset is where it goes wrong.";
    case too_deep:
      return "Arrays and objects are nested too deeply; the offset is the bracket that is too many.";
    case type_mismatch: return "The value at the pointer has the wrong type or is no 64-bit integer.";
  }
  assert(false);
  return "";
}

bool is_echo_method(Method method) {
  return method == Method::post || method == Method::put || method == Method::patch ||
         method == Method::delete_;
}

}  // namespace

/// A problem document (RFC 9457); `more_members` begins with a comma where there are any.
struct Service::Problem {
  Status status;
  std::string_view detail;
  std::string_view more_members;
  std::string_view more_field_lines;
};

Refusal Service::find_refusal(const http::Request& request) noexcept {
  if (request.has_bad_target) return Refusal::bad_target;
  if (request.has_bad_host) return Refusal::bad_host;
  if (request.method == Method::other) return Refusal::unknown_method;
  if (request.method == Method::trace || request.method == Method::connect)
    return Refusal::method_not_allowed;
  if (request.has_unknown_expectation) return Refusal::unknown_expectation;
  const bool is_content_read =
      is_echo_method(request.method) || (request.method == Method::get && request.announces_content);
  if (request.has_content_coding && is_content_read) return Refusal::unsupported_content_coding;
  return Refusal::none;
}

bool Service::answer(const http::Request& request, std::string_view content, WriteBuffer& out) {
  if (const Refusal refusal = find_refusal(request); refusal != Refusal::none) {
    answer_refusal(request, refusal, persistence_of(request), out);
  } else if (is_echo_method(request.method) || (request.method == Method::get && !content.empty())) {
    answer_echo(request, content, out);
  } else {
    answer_without_content(request, out);
  }
  return request.is_persistent() && !is_draining_;
}

void Service::answer_echo(const http::Request& request, std::string_view content, WriteBuffer& out) {
  const http::ResponseHead head{.persistence = persistence_of(request)};
  if (mode_ == json::Mode::typed) {
    if (body_reader_.read(content, body_)) {
      char* const to = response_writer_.begin(out, head, json::body_text_size_max(content.size()));
      response_writer_.end(out, json::write_body(body_, to));
      return;
    }
  } else {
    char* const to = response_writer_.begin(out, head, json::document_text_size_max(content.size()));
    if (const char* end = document_rewriter_.rewrite(content, to); end != nullptr) {
      response_writer_.end(out, end);
      return;
    }
  }
  answer_json_fault(request, content, out);
}

void Service::answer_json_fault(const http::Request& request, std::string_view content, WriteBuffer& out) {
  const std::optional<json::Fault> fault = json::locate_fault(content, mode_);
  if (!fault) {  // the reader and the locator disagree: ours, not the peer's
    write_problem(request, {Status::internal_server_error, "The body was refused without a reason.", "", ""},
                  persistence_of(request), out);
    return;
  }
  std::string members =
      fmt::format(R"(,"code":"{}","offset":{})", json::fault_code_name(fault->code), fault->offset);
  if (fault->code == json::FaultCode::type_mismatch) {
    members +=
        fmt::format(R"(,"pointer":"{}")", fault->pointer);  // letters, digits and "/": nothing to escape
  }
  write_problem(request, {Status::bad_request, explain(fault->code), members, ""}, persistence_of(request),
                out);
}

// GET without content, HEAD and OPTIONS
void Service::answer_without_content(const http::Request& request, WriteBuffer& out) {
  const Persistence persistence = persistence_of(request);
  if (request.method == Method::options) {
    response_writer_.write_without_content(
        out, {.status = Status::no_content, .persistence = persistence, .more_field_lines = kAllow});
    return;
  }
  if (request.has_health_path && is_draining_) {
    write_problem(request, {Status::service_unavailable, "The server is shutting down.", "", ""}, persistence,
                  out);
    return;
  }
  const http::ResponseHead head{.media_type = request.has_health_path ? MediaType::json : MediaType::text,
                                .persistence = persistence};
  const std::string_view content = request.has_health_path ? kHealthy : kHello;
  if (request.method == Method::head) {
    response_writer_.write_head(out, head, content.size());
  } else {
    response_writer_.write(out, head, content);
  }
}

void Service::refuse_early(const http::Request& request, Refusal refusal, WriteBuffer& out) {
  answer_refusal(request, refusal, Persistence::closes, out);
}

void Service::answer_refusal(const http::Request& request, Refusal refusal, Persistence persistence,
                             WriteBuffer& out) {
  const RefusalExplanation why = explain(refusal);
  write_problem(request, {why.status, why.detail, "", why.more_field_lines}, persistence, out);
}

void Service::answer_fault(const http::Request& request, RequestFault fault, WriteBuffer& out) {
  const Explanation why = explain(fault);
  write_problem(request, {why.status, why.detail, "", ""}, Persistence::closes, out);
}

void Service::answer_out_of_memory(WriteBuffer& out) {
  write_problem({}, {Status::service_unavailable, "There is not enough memory for this request.", "", ""},
                Persistence::closes, out);
}

void Service::answer_timeout(const http::Request& request, WriteBuffer& out) {
  write_problem(request, {Status::request_timeout, "The request was not complete in time.", "", ""},
                Persistence::closes, out);
}

void Service::write_problem(const http::Request& request, const Problem& problem, Persistence persistence,
                            WriteBuffer& out) {
  const std::string content =
      fmt::format(R"({{"title":"{}","status":{},"detail":"{}"{}}})", reason_phrase(problem.status),
                  static_cast<int>(problem.status), problem.detail, problem.more_members);
  const http::ResponseHead head{.status = problem.status,
                                .media_type = MediaType::problem,
                                .persistence = persistence,
                                .more_field_lines = problem.more_field_lines};
  if (request.method == Method::head) {
    response_writer_.write_head(out, head, content.size());
  } else {
    response_writer_.write(out, head, content);
  }
}

Persistence Service::persistence_of(const http::Request& request) const noexcept {
  if (!request.is_persistent() || is_draining_) return Persistence::closes;
  return request.is_http_1_0 ? Persistence::stays_http_1_0 : Persistence::stays;
}

bool Service::storage_is_large() const noexcept {
  return body_reader_.storage_is_large() || body_.storage_is_large() || document_rewriter_.storage_is_large();
}

void Service::release_spare() noexcept {
  body_reader_.release_spare();
  body_.release_spare();
  document_rewriter_.release_spare();
}

}  // namespace rest_echo::echo
