#pragma once

#include <array>
#include <cstddef>

#include "rest_echo/json/fault_locator.hpp"
#include "scalar_grammar.hpp"
#include "token_index.hpp"

namespace rest_echo::json {

/// `]` and `}` stand two behind `[` and `{` in ASCII.
[[nodiscard]] constexpr char closing_bracket(char open) noexcept { return static_cast<char>(open + 2); }
static_assert(closing_bracket('[') == ']' && closing_bracket('{') == '}');

/// Visits all of a value at `at`, around which `open_count` arrays and objects are open, and returns the
/// cursor behind it; a null one if it is malformed or too deep. `sink` hears of each token but colons,
/// in order: open(bracket), close(bracket), comma(), key(token), string(token), number(token, end),
/// literal(text); `key` and `string` answer false to one that they refuse. It is inlined, so that cursor and
/// sink live in registers.
template <typename Sink>
[[gnu::always_inline]] inline TokenCursor walk_value(TokenCursor at, std::size_t open_count, Sink& sink) {
  std::array<char, kDepthMax> closers;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before read
  const std::size_t outer_count = open_count;
  const auto take_key = [&at, &sink ]() __attribute__((always_inline)) {
    const char* token = at.take();
    return *token == '"' && *at.take() == ':' && sink.key(token);
  };
  for (;;) {
    const char* token = at.take();
    bool is_whole = true;  // and no element or member of it is due
    switch (*token) {
      case '[':
      case '{':
        if (open_count == kDepthMax) return {};
        closers[open_count] = closing_bracket(*token);
        is_whole = *at.peek() == closers[open_count];
        ++open_count;
        sink.open(*token);
        if (!is_whole && *token == '{' && !take_key()) return {};
        break;
      case '"':
        if (!sink.string(token)) return {};
        break;
      case 't':
        if (!is_literal(token, "true")) return {};
        sink.literal("true");
        break;
      case 'f':
        if (!is_literal(token, "false")) return {};
        sink.literal("false");
        break;
      case 'n':
        if (!is_literal(token, "null")) return {};
        sink.literal("null");
        break;
      default: {
        const char* end = find_number_end(token);
        if (end == nullptr || !kAfterScalar[*end]) return {};
        sink.number(token, end);
      }
    }
    while (is_whole) {
      if (open_count == outer_count) return at;
      const char closer = closers[open_count - 1];
      const char next = *at.take();
      if (next == closer) {
        sink.close(closer);
        --open_count;
      } else {
        if (next != ',') return {};
        sink.comma();
        if (closer == '}' && !take_key()) return {};
        is_whole = false;
      }
    }
  }
}

}  // namespace rest_echo::json
