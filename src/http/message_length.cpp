#include "rest_echo/http/message_length.hpp"

#include <algorithm>

#include "rest_echo/http/field.hpp"

namespace rest_echo::http {

RequestFault MessageLength::accept_content_length(std::string_view value) noexcept {
  if (has_content_length_) return RequestFault::repeated_content_length;
  has_content_length_ = true;
  if (value.empty()) return RequestFault::bad_content_length;
  for (char octet : value) {
    if (!kDigits[octet]) return RequestFault::bad_content_length;
    const auto digit = static_cast<std::uint64_t>(octet - '0');
    if (content_length_ > (UINT64_MAX - digit) / 10) return RequestFault::bad_content_length;
    content_length_ = content_length_ * 10 + digit;
  }
  return RequestFault::none;
}

void MessageLength::accept_transfer_encoding(std::string_view value) noexcept {
  has_transfer_encoding_ = true;
  for_each_list_member(value, [this](std::string_view coding) {
    const bool is_token = std::ranges::all_of(coding, [](char octet) { return kTokenOctet[octet]; });
    // A coding behind chunked would leave the end of the message unmarked (RFC 9112 §6.1).
    if (!is_token || has_chunked_) {
      codings_ = Codings::malformed;
    } else if (codings_ != Codings::malformed) {
      has_chunked_ = equals_ignoring_ascii_case(coding, "chunked");
      if (codings_ == Codings::none && has_chunked_) codings_ = Codings::chunked;
      if (!has_chunked_) codings_ = Codings::unknown;
    }
  });
}

RequestFault MessageLength::decide(bool is_http_1_0, std::size_t body_size_max) noexcept {
  if (!has_transfer_encoding_) {
    if (content_length_ > body_size_max) return RequestFault::content_too_large;
    if (has_content_length_) framing_ = Framing::content_length;
    return RequestFault::none;
  }
  if (has_content_length_) return RequestFault::content_length_and_transfer_encoding;
  if (is_http_1_0) return RequestFault::transfer_encoding_in_http_1_0;
  switch (codings_) {
    case Codings::none:
    case Codings::malformed: return RequestFault::bad_transfer_encoding;
    case Codings::unknown: return RequestFault::unknown_transfer_coding;
    case Codings::chunked: framing_ = Framing::chunked; break;
  }
  return RequestFault::none;
}

}  // namespace rest_echo::http
