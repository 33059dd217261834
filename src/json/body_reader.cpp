#include "rest_echo/json/body_reader.hpp"

#include <cstring>
#include <optional>

#include "on_demand_parser.hpp"
#include "rest_echo/bytes/ascii.hpp"
#include "string_scan.hpp"
#include "value_check.hpp"

namespace rest_echo::json {
namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::SUCCESS;

// Arrays and objects that are open around the members of each object.
constexpr std::size_t kOpenInBody = 1;
constexpr std::size_t kOpenInColor = 3;
constexpr std::size_t kOpenInCode = 4;

/// Compares a key as it stands in the text with `name`, which includes the closing quote. Nearly every key is
/// found this way; `unescape_key` tells about the others.
template <std::size_t N>
bool is_key(const char* key, const char (&name)[N]) noexcept {
  return std::memcmp(key, name, N - 1) == 0;
}

/// Reads one text into a Body. simdjson's iterators are four words and live in registers only while all that
/// uses them is inlined, and handing on a copy of one costs more than reading a string; hence always_inline,
/// and references into simdjson_result. Every member function visits the whole of the value it is given and
/// returns false if that is malformed or of another type than is due.
class BodyBuilder {
 public:
  explicit BodyBuilder(Body& body) : body_(body) {}

  bool take_body(ondemand::object members);

 private:
  bool take_colors(ondemand::value& value);
  bool take_color(ondemand::value& value, Color& color);
  bool take_code(ondemand::value& value, Code& code);
  bool take_rgba(ondemand::value& value, Rgba& rgba);
  bool take_string(ondemand::value& value, std::string_view& string);

  bool take_other_body_member(ondemand::field& member);
  bool take_other_color_member(ondemand::field& member, Color& color);
  bool take_other_code_member(ondemand::field& member, Code& code);

  Body& body_;
};

bool is_null(ondemand::value& value) {
  bool null = false;
  return value.is_null().get(null) == SUCCESS && null;
}

/// The key without its escapes, or nothing if one of them is wrong.
std::optional<std::string_view> unescape_key(ondemand::field& member) {
  const char* key = member.key().raw();
  const char* end = find_quote_or_backslash(key);
  if (*end == '"') return std::string_view(key, end);
  std::string_view unescaped;
  if (member.unescaped_key().get(unescaped) != SUCCESS) return std::nullopt;
  return unescaped;
}

[[gnu::always_inline]] inline bool BodyBuilder::take_string(ondemand::value& value,
                                                            std::string_view& string) {
  const char* token = token_of(value);
  if (*token != '"') return is_null(value);
  const char* end = find_quote_or_backslash(token + 1);
  if (*end == '"') {
    string = {token + 1, end};
    return value.get_raw_json_string().error() == SUCCESS;
  }
  body_.note_unescaped_string();
  return value.get_string().get(string) == SUCCESS;
}

[[gnu::always_inline]] inline bool BodyBuilder::take_rgba(ondemand::value& value, Rgba& rgba) {
  rgba.count = 0;
  ondemand::array elements;
  if (value.get_array().get(elements) != SUCCESS) return is_null(value);
  for (simdjson::simdjson_result<ondemand::value> item : elements) {
    if (item.error() != SUCCESS) return false;
    ondemand::value& element = item.value_unsafe();
    std::int64_t number = 0;
    if (element.get_int64().get(number) != SUCCESS && !is_null(element)) return false;
    body_.append_number(rgba, number);
  }
  return true;
}

// The same members under a key in another case or with escapes, and all members without a meaning.

[[gnu::noinline]] bool BodyBuilder::take_other_code_member(ondemand::field& member, Code& code) {
  const std::optional<std::string_view> key = unescape_key(member);
  if (!key) return false;
  if (equals_ignoring_ascii_case(*key, "rgba")) return take_rgba(member.value(), code.rgba);
  if (equals_ignoring_ascii_case(*key, "hex")) return take_string(member.value(), code.hex);
  return check_value(member.value(), kOpenInCode);
}

[[gnu::always_inline]] inline bool BodyBuilder::take_code(ondemand::value& value, Code& code) {
  ondemand::object members;
  if (value.get_object().get(members) != SUCCESS) return is_null(value);
  for (simdjson::simdjson_result<ondemand::field> item : members) {
    if (item.error() != SUCCESS) return false;
    ondemand::field& member = item.value_unsafe();
    const char* key = member.key().raw();
    bool taken = false;
    if (is_key(key, "rgba\"")) {
      taken = take_rgba(member.value(), code.rgba);
    } else if (is_key(key, "hex\"")) {
      taken = take_string(member.value(), code.hex);
    } else {
      taken = take_other_code_member(member, code);
    }
    if (!taken) return false;
  }
  return true;
}

[[gnu::noinline]] bool BodyBuilder::take_other_color_member(ondemand::field& member, Color& color) {
  const std::optional<std::string_view> key = unescape_key(member);
  if (!key) return false;
  if (equals_ignoring_ascii_case(*key, "color")) return take_string(member.value(), color.color);
  if (equals_ignoring_ascii_case(*key, "category")) return take_string(member.value(), color.category);
  if (equals_ignoring_ascii_case(*key, "type")) return take_string(member.value(), color.type);
  if (equals_ignoring_ascii_case(*key, "code")) return take_code(member.value(), color.code);
  return check_value(member.value(), kOpenInColor);
}

[[gnu::always_inline]] inline bool BodyBuilder::take_color(ondemand::value& value, Color& color) {
  ondemand::object members;
  if (value.get_object().get(members) != SUCCESS) return is_null(value);
  for (simdjson::simdjson_result<ondemand::field> item : members) {
    if (item.error() != SUCCESS) return false;
    ondemand::field& member = item.value_unsafe();
    const char* key = member.key().raw();
    bool taken = false;
    if (is_key(key, "color\"")) {
      taken = take_string(member.value(), color.color);
    } else if (is_key(key, "category\"")) {
      taken = take_string(member.value(), color.category);
    } else if (is_key(key, "type\"")) {
      taken = take_string(member.value(), color.type);
    } else if (is_key(key, "code\"")) {
      taken = take_code(member.value(), color.code);
    } else {
      taken = take_other_color_member(member, color);
    }
    if (!taken) return false;
  }
  return true;
}

bool BodyBuilder::take_colors(ondemand::value& value) {
  if (*token_of(value) == 'n') {
    body_.set_colors_nil();
    return is_null(value);
  }
  body_.set_colors_empty();
  ondemand::array elements;
  if (value.get_array().get(elements) != SUCCESS) return false;
  for (simdjson::simdjson_result<ondemand::value> item : elements) {
    if (item.error() != SUCCESS || !take_color(item.value_unsafe(), body_.append_color())) return false;
  }
  return true;
}

[[gnu::noinline]] bool BodyBuilder::take_other_body_member(ondemand::field& member) {
  const std::optional<std::string_view> key = unescape_key(member);
  if (!key) return false;
  if (equals_ignoring_ascii_case(*key, "colors")) return take_colors(member.value());
  return check_value(member.value(), kOpenInBody);
}

bool BodyBuilder::take_body(ondemand::object members) {
  for (simdjson::simdjson_result<ondemand::field> item : members) {
    if (item.error() != SUCCESS) return false;
    ondemand::field& member = item.value_unsafe();
    const bool taken =
        is_key(member.key().raw(), "colors\"") ? take_colors(member.value()) : take_other_body_member(member);
    if (!taken) return false;
  }
  return true;
}

}  // namespace

BodyReader::BodyReader(std::size_t text_size_expected)
    : parser_(std::make_unique<OnDemandParser>(text_size_expected)) {}
BodyReader::BodyReader(BodyReader&&) noexcept = default;
BodyReader& BodyReader::operator=(BodyReader&&) noexcept = default;
BodyReader::~BodyReader() = default;

bool BodyReader::read(std::string_view text, Body& body) {
  body.clear(text.size());
  ondemand::document document;
  if (!parser_->open(text, document)) return false;
  ondemand::object members;
  if (document.get_object().get(members) != SUCCESS) return root_scalar(text, document) == "null";
  return BodyBuilder(body).take_body(members) && is_at_end(document);
}

bool BodyReader::storage_is_large() const noexcept { return parser_->storage_is_large(); }

void BodyReader::release_spare() { parser_->release_spare(); }

}  // namespace rest_echo::json
