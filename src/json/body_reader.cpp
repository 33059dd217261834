#include "rest_echo/json/body_reader.hpp"

#include <cstring>

#include "rest_echo/bytes/ascii.hpp"
#include "scalar_grammar.hpp"
#include "string_scan.hpp"
#include "token_index.hpp"
#include "value_walk.hpp"

namespace rest_echo::json {
namespace {

// Arrays and objects that are open around the members of each object.
constexpr std::size_t kOpenInBody = 1;
constexpr std::size_t kOpenInColor = 3;
constexpr std::size_t kOpenInCode = 4;

/// Compares a key as it stands in the text with `name`, which includes the closing quote. Nearly every key is
/// found this way; keys in another case or with escapes go through `read_key`.
template <std::size_t N>
bool is_key(const char* key, const char (&name)[N]) noexcept {
  return std::memcmp(key, name, N - 1) == 0;
}

/// Visits a value without a meaning.
struct Visitor {
  TokenIndex& index;

  void open(char /*bracket*/) const {}
  void close(char /*bracket*/) const {}
  void comma() const {}
  void literal(std::string_view /*text*/) const {}
  void number(const char* /*token*/, const char* /*end*/) const {}
  bool key(const char* token) const { return string(token); }
  bool string(const char* token) const {
    return *find_quote_or_backslash(token + 1) == '"' || index.unescape(token + 1).has_value();
  }
};

/// Reads one text into a Body. Every function reads the whole of the value at the cursor and returns the
/// cursor behind it, or a null one if the value is malformed or of another type than is due. Cursors are
/// handed on by value and all that is usual is inlined, so that they live in registers.
class BodyBuilder {
 public:
  BodyBuilder(TokenIndex& index, Body& body) : index_(index), body_(body) {}

  TokenCursor read_body(TokenCursor at);

 private:
  TokenCursor read_colors(TokenCursor at);
  TokenCursor read_color(TokenCursor at, Color& color);
  TokenCursor read_code(TokenCursor at, Code& code);
  TokenCursor read_rgba(TokenCursor at, Rgba& rgba);
  TokenCursor read_number(TokenCursor at, Rgba& rgba);
  TokenCursor read_string(TokenCursor at, std::string_view& string);

  TokenCursor read_other_body_member(TokenCursor at, const char* key);
  TokenCursor read_other_color_member(TokenCursor at, const char* key, Color& color);
  TokenCursor read_other_code_member(TokenCursor at, const char* key, Code& code);

  /// The key without its escapes, or nothing if one of them is wrong.
  std::optional<std::string_view> read_key(const char* key);
  TokenCursor skip_value(TokenCursor at, std::size_t open_count);

  TokenIndex& index_;
  Body& body_;
};

/// Where a value is due, null is none.
TokenCursor read_null(TokenCursor at) { return is_literal(at.take(), "null") ? at : TokenCursor(); }

/// Reads what stands between `kOpen` and its closing bracket; `read_item(cursor)` reads what commas part.
template <char kOpen, typename ReadItem>
[[gnu::always_inline]] inline TokenCursor read_items(TokenCursor at, ReadItem read_item) {
  constexpr char kClose = closing_bracket(kOpen);
  if (*at.peek() != kOpen) return read_null(at);
  at.take();
  if (*at.peek() == kClose) {
    at.take();
    return at;
  }
  for (;;) {
    at = read_item(at);
    if (!at) return {};
    const char next = *at.take();
    if (next == kClose) return at;
    if (next != ',') return {};
  }
}

/// Calls `read_member(cursor, key)` at the value of each member.
template <typename ReadMember>
[[gnu::always_inline]] inline TokenCursor read_object(TokenCursor at, ReadMember read_member) {
  return read_items<'{'>(at, [&](TokenCursor member) {
    const char* key = member.take();
    if (*key != '"' || *member.take() != ':') return TokenCursor();
    return read_member(member, key + 1);
  });
}

/// Calls `read_element(cursor)` at each element.
template <typename ReadElement>
[[gnu::always_inline]] inline TokenCursor read_array(TokenCursor at, ReadElement read_element) {
  return read_items<'['>(at, read_element);
}

std::optional<std::string_view> BodyBuilder::read_key(const char* key) {
  const char* end = find_quote_or_backslash(key);
  if (*end == '"') return std::string_view(key, end);
  return index_.unescape(key);
}

TokenCursor BodyBuilder::skip_value(TokenCursor at, std::size_t open_count) {
  Visitor visitor{index_};
  return walk_value(at, open_count, visitor);
}

[[gnu::always_inline]] inline TokenCursor BodyBuilder::read_string(TokenCursor at, std::string_view& string) {
  const char* token = at.peek();
  if (*token != '"') return read_null(at);
  at.take();
  const char* end = find_quote_or_backslash(token + 1);
  if (*end == '"') {
    string = {token + 1, end};
    return at;
  }
  const std::optional<std::string_view> unescaped = index_.unescape(token + 1);
  if (!unescaped) return {};
  body_.note_unescaped_string();
  string = *unescaped;
  return at;
}

[[gnu::always_inline]] inline TokenCursor BodyBuilder::read_number(TokenCursor at, Rgba& rgba) {
  const char* token = at.take();
  std::int64_t number = 0;
  if (!read_int64(token, number) && !is_literal(token, "null")) return {};
  body_.append_number(rgba, number);
  return at;
}

[[gnu::always_inline]] inline TokenCursor BodyBuilder::read_rgba(TokenCursor at, Rgba& rgba) {
  rgba.count = 0;
  return read_array(at, [&](TokenCursor element) { return read_number(element, rgba); });
}

[[gnu::always_inline]] inline TokenCursor BodyBuilder::read_code(TokenCursor at, Code& code) {
  return read_object(at, [&](TokenCursor value, const char* key) {
    if (is_key(key, "rgba\"")) return read_rgba(value, code.rgba);
    if (is_key(key, "hex\"")) return read_string(value, code.hex);
    return read_other_code_member(value, key, code);
  });
}

[[gnu::always_inline]] inline TokenCursor BodyBuilder::read_color(TokenCursor at, Color& color) {
  return read_object(at, [&](TokenCursor value, const char* key) {
    if (is_key(key, "color\"")) return read_string(value, color.color);
    if (is_key(key, "category\"")) return read_string(value, color.category);
    if (is_key(key, "type\"")) return read_string(value, color.type);
    if (is_key(key, "code\"")) return read_code(value, color.code);
    return read_other_color_member(value, key, color);
  });
}

TokenCursor BodyBuilder::read_colors(TokenCursor at) {
  if (*at.peek() == 'n') {
    body_.set_colors_nil();
    return read_null(at);
  }
  body_.set_colors_empty();
  return read_array(at, [&](TokenCursor element) { return read_color(element, body_.append_color()); });
}

TokenCursor BodyBuilder::read_body(TokenCursor at) {
  return read_object(at, [&](TokenCursor value, const char* key) {
    return is_key(key, "colors\"") ? read_colors(value) : read_other_body_member(value, key);
  });
}

// The same members under a key in another case or with escapes, and all members without a meaning.

[[gnu::noinline]] TokenCursor BodyBuilder::read_other_code_member(TokenCursor at, const char* key,
                                                                  Code& code) {
  const std::optional<std::string_view> name = read_key(key);
  if (!name) return {};
  if (equals_ignoring_ascii_case(*name, "rgba")) return read_rgba(at, code.rgba);
  if (equals_ignoring_ascii_case(*name, "hex")) return read_string(at, code.hex);
  return skip_value(at, kOpenInCode);
}

[[gnu::noinline]] TokenCursor BodyBuilder::read_other_color_member(TokenCursor at, const char* key,
                                                                   Color& color) {
  const std::optional<std::string_view> name = read_key(key);
  if (!name) return {};
  if (equals_ignoring_ascii_case(*name, "color")) return read_string(at, color.color);
  if (equals_ignoring_ascii_case(*name, "category")) return read_string(at, color.category);
  if (equals_ignoring_ascii_case(*name, "type")) return read_string(at, color.type);
  if (equals_ignoring_ascii_case(*name, "code")) return read_code(at, color.code);
  return skip_value(at, kOpenInColor);
}

[[gnu::noinline]] TokenCursor BodyBuilder::read_other_body_member(TokenCursor at, const char* key) {
  const std::optional<std::string_view> name = read_key(key);
  if (!name) return {};
  if (equals_ignoring_ascii_case(*name, "colors")) return read_colors(at);
  return skip_value(at, kOpenInBody);
}

}  // namespace

BodyReader::BodyReader(std::size_t text_size_expected)
    : index_(std::make_unique<TokenIndex>(text_size_expected)) {}
BodyReader::BodyReader(BodyReader&&) noexcept = default;
BodyReader& BodyReader::operator=(BodyReader&&) noexcept = default;
BodyReader::~BodyReader() = default;

bool BodyReader::read(std::string_view text, Body& body) {
  body.clear(text.size());
  if (!index_->build(text)) return false;
  if (!index_->is_between('{', '}')) return trim(text) == "null";
  return BodyBuilder(*index_, body).read_body(index_->begin()) == index_->end();
}

bool BodyReader::storage_is_large() const noexcept { return index_->storage_is_large(); }

void BodyReader::release_spare() noexcept { index_->release_spare(); }

}  // namespace rest_echo::json
