#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "rest_echo/http/request_parser.hpp"
#include "support/cutting.hpp"
#include "support/guarded_space.hpp"

namespace rest_echo::test {

/// The enumerator's name.
constexpr std::string_view name_of(http::RequestFault fault) {
  using enum http::RequestFault;
  switch (fault) {
    case none: return "none";
    case incomplete: return "incomplete";
    case repeated_empty_line: return "repeated_empty_line";
    case bare_line_end: return "bare_line_end";
    case bad_method: return "bad_method";
    case method_too_long: return "method_too_long";
    case bad_request_target: return "bad_request_target";
    case request_target_too_long: return "request_target_too_long";
    case bad_version: return "bad_version";
    case unsupported_version: return "unsupported_version";
    case bad_field_line: return "bad_field_line";
    case head_too_large: return "head_too_large";
    case bad_content_length: return "bad_content_length";
    case repeated_content_length: return "repeated_content_length";
    case content_length_and_transfer_encoding: return "content_length_and_transfer_encoding";
    case bad_transfer_encoding: return "bad_transfer_encoding";
    case transfer_encoding_in_http_1_0: return "transfer_encoding_in_http_1_0";
    case unknown_transfer_coding: return "unknown_transfer_coding";
    case content_too_large: return "content_too_large";
    case bad_chunk: return "bad_chunk";
    case chunk_extensions_too_large: return "chunk_extensions_too_large";
    case bad_trailer: return "bad_trailer";
    case trailer_section_too_large: return "trailer_section_too_large";
  }
  return "?";
}

constexpr std::string_view name_of(http::Method method) {
  using enum http::Method;
  switch (method) {
    case other: return "other";
    case get: return "get";
    case head: return "head";
    case post: return "post";
    case put: return "put";
    case patch: return "patch";
    case delete_: return "delete";
    case options: return "options";
    case trace: return "trace";
    case connect: return "connect";
  }
  return "?";
}

/// A request in a few words: its method, then each property that is not the ordinary one.
inline std::string describe(const http::Request& request) {
  std::string text(name_of(request.method));
  const auto add = [&text](bool is_so, std::string_view word) {
    if (is_so) text.append(" ").append(word);
  };
  add(request.is_http_1_0, "1.0");
  add(request.has_bad_target, "bad-target");
  add(request.has_bad_host, "bad-host");
  add(request.has_health_path, "health-path");
  add(request.has_close_option, "close");
  add(request.has_keep_alive_option, "keep-alive");
  add(request.expects_continue, "expects-continue");
  add(request.has_unknown_expectation, "unknown-expectation");
  add(request.has_content_coding, "coded");
  add(request.framing == http::Framing::content_length, "length");
  add(request.framing == http::Framing::chunked, "chunked");
  const bool may_announce = request.framing != http::Framing::none;
  add(request.announces_content && !may_announce, "announces-content-without-framing");
  add(!request.announces_content && request.framing == http::Framing::chunked, "announces-nothing");
  return text;
}

/// Reads one request, received in the pieces of `cutting`, each time from a new place that ends at an
/// unmapped page. Tells what was read: the request described, its content after `:` where it is framed, and
/// after ` + ` the octets behind it; or `failed: ` and the fault; or `need more`.
inline std::string read_request(std::string_view wire, const Cutting& cutting, const http::Limits& limits) {
  using Outcome = http::RequestParser::Outcome;
  static GuardedSpace space;
  http::RequestParser parser(limits);
  std::string kept;
  std::size_t offset = 0;
  for (const std::size_t end : cutting) {
    kept += wire.substr(offset, end - offset);
    offset = end;
    const std::span<char> unread = space.place(kept);
    const std::string_view view(unread.data(), unread.size());
    Outcome outcome = parser.parse_head(view);
    if (outcome == Outcome::complete) outcome = parser.parse_body(unread);
    switch (outcome) {
      case Outcome::failed: return "failed: " + std::string(name_of(parser.fault()));
      case Outcome::complete: {
        std::string text = describe(parser.request());
        if (parser.request().framing != http::Framing::none) text.append(": ").append(parser.content(view));
        const std::string rest = std::string(view.substr(parser.message_size())).append(wire.substr(offset));
        return rest.empty() ? text : text + " + " + rest;
      }
      case Outcome::need_more:
        kept = view.substr(0, parser.is_head_complete() ? parser.retained_size(view.size()) : view.size());
    }
  }
  return parser.fault() == http::RequestFault::none ? "need more" : "need more, with a fault";
}

/// Takes the chunked coding off what is received in the pieces of `cutting`, each in place before an unmapped
/// page. Tells the content, and after ` + ` the octets behind the message; or `failed: ` and the fault; or
/// `need more: ` and the content so far.
inline std::string decode_chunked(std::string_view wire, const Cutting& cutting, const http::Limits& limits) {
  using Outcome = http::ChunkedDecoder::Outcome;
  static GuardedSpace space;
  http::ChunkedDecoder decoder;
  std::string content;
  std::size_t offset = 0;
  for (const std::size_t end : cutting) {
    const std::span<char> received = space.place(wire.substr(offset, end - offset));
    const http::ChunkedDecoder::Progress progress = decoder.decode(received, received.data(), limits);
    content.append(received.data(), progress.content_size);
    switch (progress.outcome) {
      case Outcome::failed: return "failed: " + std::string(name_of(decoder.fault()));
      case Outcome::complete: {
        const std::string_view rest = wire.substr(offset + progress.consumed_size);
        return rest.empty() ? content : content + " + " + std::string(rest);
      }
      case Outcome::need_more:
        if (progress.consumed_size != received.size()) return "left octets over";
        offset = end;
    }
  }
  return "need more: " + content;
}

}  // namespace rest_echo::test
