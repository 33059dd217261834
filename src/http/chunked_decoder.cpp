#include "rest_echo/http/chunked_decoder.hpp"

#include <algorithm>
#include <cstring>

#include "rest_echo/bytes/ascii.hpp"
#include "rest_echo/bytes/control_scan.hpp"
#include "rest_echo/http/field.hpp"

namespace rest_echo::http {
namespace {

constexpr OctetSet kQuotedText =
    OctetSet{}.with("\t !").with_range(0x23, 0x5b).with_range(0x5d, 0x7e).with_range(0x80, 0xff);
constexpr OctetSet kQuotedPair = OctetSet{}.with("\t").with_range(0x20, 0x7e).with_range(0x80, 0xff);
static_assert(!kQuotedText['"'] && !kQuotedText['\\'] && !kQuotedText['\r'] && kQuotedPair['"'] &&
              kQuotedPair['\\']);

constexpr std::size_t kSizeDigitsMax = 2 * sizeof(std::size_t);

}  // namespace

ChunkedDecoder::Progress ChunkedDecoder::decode(std::span<const char> received, char* content,
                                                const Limits& limits) noexcept {
  const char* const begin = received.data();
  const char* const end = begin + received.size();
  char* const content_begin = content;
  const auto progress = [&](Outcome outcome, const char* next) {
    return Progress{outcome, static_cast<std::size_t>(next - begin),
                    static_cast<std::size_t>(content - content_begin)};
  };
  for (const char* next = begin; next != end;) {
    switch (state_) {  // no default: the compiler names a state we forgot
      case State::content: {
        const std::size_t size = std::min(chunk_rest_, static_cast<std::size_t>(end - next));
        std::memmove(content, next, size);
        content += size;
        next += size;
        chunk_rest_ -= size;
        if (chunk_rest_ == 0) state_ = State::content_cr;
        break;
      }
      case State::content_cr:
        if (*next++ != '\r') fail(RequestFault::bad_chunk);
        state_ = State::content_lf;
        break;
      case State::content_lf:
        if (*next++ != '\n') fail(RequestFault::bad_chunk);
        state_ = State::size_first;
        break;
      case State::size_first:
      case State::size:
      case State::size_lf: take_size(*next++, limits); break;
      case State::extension_bws:
      case State::extension_name_bws:
      case State::extension_name:
      case State::extension_equals_bws:
      case State::extension_value_bws:
      case State::extension_token:
      case State::extension_quoted:
      case State::extension_quoted_pair:
      case State::extension_end: take_extension(*next++, limits); break;
      case State::trailer_first:
      case State::trailer_name:
      case State::trailer_value:
      case State::trailer_lf: take_trailer(*next++, limits); break;
      case State::last_lf:
        if (*next++ != '\n') {
          fail(RequestFault::bad_trailer);
          break;
        }
        return progress(Outcome::complete, next);
    }
    if (fault_ != RequestFault::none) return progress(Outcome::failed, next);
  }
  return progress(Outcome::need_more, end);
}

void ChunkedDecoder::fail(RequestFault fault) noexcept { fault_ = fault; }

// chunk-size = 1*HEXDIG, then chunk-ext or CRLF
void ChunkedDecoder::take_size(char octet, const Limits& limits) noexcept {
  if (state_ == State::size_lf) {
    if (octet != '\n') return fail(RequestFault::bad_chunk);
    return end_size_line(limits);
  }
  if (++line_size_ > limits.chunk_line_size_max) return fail(RequestFault::bad_chunk);
  const int digit = hex_digit_value(octet);
  if (digit >= 0) {
    state_ = State::size;
    // Digits beyond those of the largest number are zeros, and as idle as an extension.
    if (line_size_ > kSizeDigitsMax && ++extensions_size_ > limits.chunk_extensions_size_max) {
      return fail(RequestFault::chunk_extensions_too_large);
    }
    if (chunk_rest_ > SIZE_MAX >> 4) return fail(RequestFault::bad_chunk);
    chunk_rest_ = chunk_rest_ << 4 | static_cast<std::size_t>(digit);
    return;
  }
  if (state_ == State::size_first) return fail(RequestFault::bad_chunk);
  switch (octet) {
    case '\r': state_ = State::size_lf; return;
    case ';': state_ = State::extension_name_bws; return;
    case ' ':
    case '\t': state_ = State::extension_bws; return;
    default: return fail(RequestFault::bad_chunk);
  }
}

void ChunkedDecoder::end_size_line(const Limits& limits) noexcept {
  line_size_ = 0;
  if (chunk_rest_ == 0) {
    state_ = State::trailer_first;
    return;
  }
  if (chunk_rest_ > limits.body_size_max - content_size_) return fail(RequestFault::content_too_large);
  content_size_ += chunk_rest_;
  state_ = State::content;
  return;
}

// chunk-ext = *( BWS ";" BWS chunk-ext-name [ BWS "=" BWS chunk-ext-val ] )
void ChunkedDecoder::take_extension(char octet, const Limits& limits) noexcept {
  if (++line_size_ > limits.chunk_line_size_max) return fail(RequestFault::bad_chunk);
  if (++extensions_size_ > limits.chunk_extensions_size_max)
    return fail(RequestFault::chunk_extensions_too_large);

  const auto go = [this](State state) { state_ = state; };
  switch (state_) {
    case State::extension_bws:
      if (octet == ';') return go(State::extension_name_bws);
      if (is_ows(octet)) return;
      break;
    case State::extension_name_bws:
      if (kTokenOctet[octet]) return go(State::extension_name);
      if (is_ows(octet)) return;
      break;
    case State::extension_name:
      if (kTokenOctet[octet]) return;
      if (octet == '\r') return go(State::size_lf);
      if (octet == ';') return go(State::extension_name_bws);
      if (octet == '=') return go(State::extension_value_bws);
      if (is_ows(octet)) return go(State::extension_equals_bws);
      break;
    case State::extension_equals_bws:
      if (octet == '=') return go(State::extension_value_bws);
      if (octet == ';') return go(State::extension_name_bws);
      if (is_ows(octet)) return;
      break;
    case State::extension_value_bws:
      if (kTokenOctet[octet]) return go(State::extension_token);
      if (octet == '"') return go(State::extension_quoted);
      if (is_ows(octet)) return;
      break;
    case State::extension_token:
      if (kTokenOctet[octet]) return;
      [[fallthrough]];
    case State::extension_end:
      if (octet == '\r') return go(State::size_lf);
      if (octet == ';') return go(State::extension_name_bws);
      if (is_ows(octet)) return go(State::extension_bws);
      break;
    case State::extension_quoted:
      if (kQuotedText[octet]) return;
      if (octet == '\\') return go(State::extension_quoted_pair);
      if (octet == '"') return go(State::extension_end);
      break;
    case State::extension_quoted_pair:
      if (kQuotedPair[octet]) return go(State::extension_quoted);
      break;
    default: break;
  }
  return fail(RequestFault::bad_chunk);
}

// trailer-section = *( field-line CRLF ), then CRLF
void ChunkedDecoder::take_trailer(char octet, const Limits& limits) noexcept {
  if (++trailers_size_ > limits.trailer_section_size_max)
    return fail(RequestFault::trailer_section_too_large);
  if (state_ == State::trailer_first || state_ == State::trailer_name) {
    if (kTokenOctet[octet]) {
      state_ = State::trailer_name;
    } else if (state_ == State::trailer_name && octet == ':') {
      state_ = State::trailer_value;
    } else if (state_ == State::trailer_first && octet == '\r') {
      state_ = State::last_lf;
    } else {
      return fail(RequestFault::bad_trailer);
    }
  } else if (state_ == State::trailer_value) {
    if (octet == '\r') {
      state_ = State::trailer_lf;
    } else if (is_control_but_tab(octet)) {
      return fail(RequestFault::bad_trailer);
    }
  } else {
    if (octet != '\n') return fail(RequestFault::bad_trailer);
    state_ = State::trailer_first;
  }
  return;
}

}  // namespace rest_echo::http
