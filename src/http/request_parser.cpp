#include "rest_echo/http/request_parser.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "rest_echo/bytes/control_scan.hpp"
#include "rest_echo/http/request_target.hpp"

namespace rest_echo::http {
namespace {

constexpr std::string_view kVersion11Line = "HTTP/1.1\r\n";
constexpr std::string_view kHealthPath = "/healthz";

constexpr Method find_method(std::string_view token) noexcept {
  switch (token.size()) {
    case 3: return token == "GET" ? Method::get : token == "PUT" ? Method::put : Method::other;
    case 4: return token == "POST" ? Method::post : token == "HEAD" ? Method::head : Method::other;
    case 5: return token == "PATCH" ? Method::patch : token == "TRACE" ? Method::trace : Method::other;
    case 6: return token == "DELETE" ? Method::delete_ : Method::other;
    case 7:
      return token == "OPTIONS" ? Method::options : token == "CONNECT" ? Method::connect : Method::other;
    default: return Method::other;
  }
}

std::size_t find_end_of(const OctetSet& set, std::string_view text, std::size_t offset) noexcept {
  while (offset < text.size() && set[text[offset]]) ++offset;
  return offset;
}

bool is_control_or_space(char octet) noexcept {
  return static_cast<unsigned char>(octet) <= ' ' || octet == '\x7f';
}

}  // namespace

RequestParser::Outcome RequestParser::parse_head(std::string_view unread) noexcept {
  const std::string_view readable = unread.substr(0, limits_->head_size_max);
  for (Step step = Step::moved; step == Step::moved;) {
    switch (state_) {  // no default: the compiler names a state we forgot
      case State::start:
      case State::leading_lf: step = take_leading_line(readable); break;
      case State::method: step = take_method(readable); break;
      case State::target: step = take_target(readable); break;
      case State::version: step = take_version(readable); break;
      case State::request_line_lf:
      case State::field_line_lf:
      case State::section_lf: step = take_line_end(readable); break;
      case State::field_name: step = take_field_name(readable); break;
      case State::field_value: step = take_field_value(readable); break;
      case State::head_complete: return Outcome::complete;
      case State::failed: return Outcome::failed;
    }
  }
  if (readable.size() < limits_->head_size_max) return Outcome::need_more;
  fail(oversize_fault());
  return Outcome::failed;
}

RequestParser::Outcome RequestParser::parse_body(std::span<char> unread) noexcept {
  assert(is_head_complete());
  switch (request_.framing) {
    case Framing::none: message_size_ = head_size_; return Outcome::complete;
    case Framing::content_length:
      if (unread.size() - head_size_ < length_.content_length()) return Outcome::need_more;
      content_size_ = length_.content_length();
      message_size_ = head_size_ + content_size_;
      return Outcome::complete;
    case Framing::chunked: break;
  }
  const std::span<char> received = unread.subspan(head_size_ + content_size_);
  const ChunkedDecoder::Progress progress = chunked_decoder_.decode(received, received.data(), *limits_);
  message_size_ = head_size_ + content_size_ + progress.consumed_size;
  content_size_ += progress.content_size;
  switch (progress.outcome) {
    case ChunkedDecoder::Outcome::need_more: return Outcome::need_more;
    case ChunkedDecoder::Outcome::complete: return Outcome::complete;
    case ChunkedDecoder::Outcome::failed: fail(chunked_decoder_.fault()); return Outcome::failed;
  }
  assert(false);
  return Outcome::failed;
}

RequestParser::Step RequestParser::fail(RequestFault fault) noexcept {
  fault_ = fault;
  state_ = State::failed;
  return Step::moved;
}

RequestFault RequestParser::oversize_fault() const noexcept {
  switch (state_) {
    case State::start:
    case State::leading_lf:
    case State::method: return RequestFault::method_too_long;
    case State::target:
    case State::version:
    case State::request_line_lf: return RequestFault::request_target_too_long;
    case State::field_name:
    case State::field_value:
    case State::field_line_lf:
    case State::section_lf:
    case State::head_complete:
    case State::failed: break;
  }
  return RequestFault::head_too_large;
}

// One empty line before a request is ignored (RFC 9112 §2.2).
RequestParser::Step RequestParser::take_leading_line(std::string_view readable) noexcept {
  if (scanned_ == readable.size()) return Step::starved;
  const char octet = readable[scanned_];
  if (state_ == State::leading_lf) {
    if (octet != '\n') return fail(RequestFault::bare_line_end);
    has_leading_line_ = true;
    state_ = State::start;
    ++scanned_;
  } else if (octet == '\r') {
    if (has_leading_line_) return fail(RequestFault::repeated_empty_line);
    state_ = State::leading_lf;
    ++scanned_;
  } else {
    request_line_offset_ = part_offset_ = scanned_;
    state_ = State::method;
  }
  return Step::moved;
}

// method = token, then SP
RequestParser::Step RequestParser::take_method(std::string_view readable) noexcept {
  const std::size_t size_max = part_offset_ + limits_->method_size_max;
  scanned_ = find_end_of(kTokenOctet, readable.substr(0, size_max), scanned_);
  if (scanned_ == readable.size()) return Step::starved;
  if (readable[scanned_] != ' ') {
    return fail(kTokenOctet[readable[scanned_]] ? RequestFault::method_too_long : RequestFault::bad_method);
  }
  if (scanned_ == part_offset_) return fail(RequestFault::bad_method);
  request_.method = find_method(readable.substr(part_offset_, scanned_ - part_offset_));
  part_offset_ = ++scanned_;
  state_ = State::target;
  return Step::moved;
}

// request-target, then SP. A control or nothing at all breaks the line; other wrong octets only the target.
RequestParser::Step RequestParser::take_target(std::string_view readable) noexcept {
  for (;;) {
    scanned_ = find_end_of(kQueryOctet, readable, scanned_);
    if (scanned_ == readable.size()) return Step::starved;
    if (is_control_or_space(readable[scanned_])) break;
    has_odd_target_octet_ = true;
    ++scanned_;
  }
  if (readable[scanned_] != ' ' || scanned_ == part_offset_) return fail(RequestFault::bad_request_target);
  judge_target(readable.substr(part_offset_, scanned_ - part_offset_));
  part_offset_ = ++scanned_;
  state_ = State::version;
  return Step::moved;
}

void RequestParser::judge_target(std::string_view target) noexcept {
  std::string_view path;
  if (target.front() == '/') {
    request_.has_bad_target =
        has_odd_target_octet_ || request_.method == Method::connect || !has_sound_percent_encoding(target);
    path = target.substr(0, target.find('?'));
  } else {
    const RequestTarget read = read_request_target(target);
    path = read.path;
    switch (read.form) {
      case RequestTarget::Form::invalid: request_.has_bad_target = true; break;
      case RequestTarget::Form::absolute: request_.has_bad_target = request_.method == Method::connect; break;
      case RequestTarget::Form::authority:
        request_.has_bad_target = request_.method != Method::connect;
        break;
      case RequestTarget::Form::asterisk: request_.has_bad_target = request_.method != Method::options; break;
    }
  }
  request_.has_health_path = path == kHealthPath;
}

// HTTP-version = "HTTP" "/" DIGIT "." DIGIT, then CR
RequestParser::Step RequestParser::take_version(std::string_view readable) noexcept {
  if (scanned_ == part_offset_ && readable.substr(scanned_).starts_with(kVersion11Line)) {
    request_line_size_ = scanned_ + kVersion11Line.size() - 2 - request_line_offset_;
    scanned_ += kVersion11Line.size();
    part_offset_ = scanned_;
    state_ = State::field_name;
    return Step::moved;
  }
  constexpr std::size_t kMajorOffset = 5;
  constexpr std::size_t kMinorOffset = 7;
  constexpr std::size_t kEndOffset = 8;
  for (; scanned_ != readable.size(); ++scanned_) {
    const std::size_t offset = scanned_ - part_offset_;
    const char octet = readable[scanned_];
    if (offset == kEndOffset) {
      if (octet != '\r') return fail(RequestFault::bad_version);
      has_foreign_major_ = readable[part_offset_ + kMajorOffset] != '1';
      request_.is_http_1_0 = readable[part_offset_ + kMinorOffset] == '0';
      request_line_size_ = scanned_ - request_line_offset_;
      ++scanned_;
      state_ = State::request_line_lf;
      return Step::moved;
    }
    const bool is_due =
        offset == kMajorOffset || offset == kMinorOffset ? kDigits[octet] : octet == kVersion11Line[offset];
    if (!is_due) return fail(RequestFault::bad_version);
  }
  return Step::starved;
}

// The LF of a line's CR LF; only now does the line count.
RequestParser::Step RequestParser::take_line_end(std::string_view readable) noexcept {
  if (scanned_ == readable.size()) return Step::starved;
  if (readable[scanned_] != '\n') return fail(RequestFault::bare_line_end);
  const std::string_view part = readable.substr(part_offset_, scanned_ - 1 - part_offset_);
  const State line = std::exchange(state_, State::field_name);
  part_offset_ = ++scanned_;
  if (line == State::section_lf) return end_head();
  if (line == State::request_line_lf) {
    return has_foreign_major_ ? fail(RequestFault::unsupported_version) : Step::moved;
  }
  return field_name_ == FieldName::other ? Step::moved : take_field(trim_ows(part));
}

// field-name = token, then ":"; or the CR of the empty line that ends the section
RequestParser::Step RequestParser::take_field_name(std::string_view readable) noexcept {
  scanned_ = find_end_of(kTokenOctet, readable, scanned_);
  if (scanned_ == readable.size()) return Step::starved;
  const char octet = readable[scanned_];
  const std::size_t size = scanned_ - part_offset_;
  if (octet == ':' && size > 0) {
    if (++field_count_ > limits_->field_count_max) return fail(RequestFault::head_too_large);
    field_name_ = find_field_name(readable.substr(part_offset_, size));
    part_offset_ = ++scanned_;
    state_ = State::field_value;
    return Step::moved;
  }
  if (octet != '\r' || size > 0) return fail(RequestFault::bad_field_line);
  ++scanned_;
  state_ = State::section_lf;
  return Step::moved;
}

// field-value, then CR
RequestParser::Step RequestParser::take_field_value(std::string_view readable) noexcept {
  const char* const end = readable.data() + readable.size();
  const char* const found = find_control_but_tab(readable.data() + scanned_, end);
  scanned_ = static_cast<std::size_t>(found - readable.data());
  if (found == end) return Step::starved;
  if (*found != '\r') return fail(RequestFault::bad_field_line);
  ++scanned_;
  state_ = State::field_line_lf;
  return Step::moved;
}

RequestParser::Step RequestParser::take_field(std::string_view value) noexcept {
  switch (field_name_) {
    case FieldName::other: break;
    case FieldName::host: take_host(value); break;
    case FieldName::content_length: {
      const RequestFault fault = length_.accept_content_length(value);
      if (fault != RequestFault::none) return fail(fault);
      break;
    }
    case FieldName::transfer_encoding: length_.accept_transfer_encoding(value); break;
    case FieldName::connection:
      for_each_list_member(value, [this](std::string_view option) {
        if (equals_ignoring_ascii_case(option, "close")) request_.has_close_option = true;
        if (equals_ignoring_ascii_case(option, "keep-alive")) request_.has_keep_alive_option = true;
      });
      break;
    case FieldName::expect:
      for_each_list_member(value, [this](std::string_view expectation) {
        const bool is_known = equals_ignoring_ascii_case(expectation, "100-continue");
        (is_known ? request_.expects_continue : request_.has_unknown_expectation) = true;
      });
      break;
    case FieldName::content_encoding:
      for_each_list_member(value, [this](std::string_view coding) {
        if (!equals_ignoring_ascii_case(coding, "identity")) request_.has_content_coding = true;
      });
      break;
  }
  return Step::moved;
}

void RequestParser::take_host(std::string_view value) noexcept {
  if (has_host_ || !is_authority(value)) request_.has_bad_host = true;
  has_host_ = true;
}

RequestParser::Step RequestParser::end_head() noexcept {
  const RequestFault fault = length_.decide(request_.is_http_1_0, limits_->body_size_max);
  if (fault != RequestFault::none) return fail(fault);
  if (!has_host_ && !request_.is_http_1_0) request_.has_bad_host = true;
  if (request_.is_http_1_0) request_.expects_continue = false;  // RFC 9110 §10.1.1
  request_.framing = length_.framing();
  request_.announces_content = request_.framing == Framing::chunked || length_.content_length() > 0;
  head_size_ = scanned_;
  state_ = State::head_complete;
  return Step::moved;
}

}  // namespace rest_echo::http
