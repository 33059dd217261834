#include "rest_echo/json/document_rewriter.hpp"

#include <cstring>

#include "number_grammar.hpp"
#include "on_demand_parser.hpp"
#include "rest_echo/json/escape.hpp"
#include "rest_echo/json/fault_locator.hpp"
#include "string_scan.hpp"

namespace rest_echo::json {
namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::SUCCESS;

// All is inlined into write_array and write_object, so that iterators live in registers (see BodyBuilder).
// Each function writes what it visits to `out` and returns the end, or nullptr if it is malformed or too
// deep.

char* write_value(ondemand::value& value, std::size_t open_count, char* out);

/// Puts the bracket where the last comma is, if there is one: a value never ends with a comma.
char* close(char bracket, char* out) {
  if (out[-1] == ',') --out;
  *out++ = bracket;
  return out;
}

char* write_array(ondemand::array& elements, std::size_t open_count, char* out) {
  *out++ = '[';
  for (simdjson::simdjson_result<ondemand::value> item : elements) {
    if (item.error() != SUCCESS) return nullptr;
    out = write_value(item.value_unsafe(), open_count, out);
    if (out == nullptr) return nullptr;
    *out++ = ',';
  }
  return close(']', out);
}

[[gnu::always_inline]] inline char* write_key(ondemand::field& member, char* out) {
  *out++ = '"';
  char* end = copy_until_quote(member.key().raw(), out);
  if (end == nullptr) {
    std::string_view key;
    if (member.unescaped_key().get(key) != SUCCESS) return nullptr;
    end = write_escaped(key, out);
  }
  *end++ = '"';
  *end++ = ':';
  return end;
}

char* write_object(ondemand::object& members, std::size_t open_count, char* out) {
  *out++ = '{';
  for (simdjson::simdjson_result<ondemand::field> item : members) {
    if (item.error() != SUCCESS) return nullptr;
    ondemand::field& member = item.value_unsafe();
    out = write_key(member, out);
    if (out == nullptr) return nullptr;
    out = write_value(member.value(), open_count, out);
    if (out == nullptr) return nullptr;
    *out++ = ',';
  }
  return close('}', out);
}

[[gnu::always_inline]] inline char* write_string(ondemand::value& value, const char* token, char* out) {
  *out++ = '"';
  char* end = copy_until_quote(token + 1, out);
  if (end == nullptr) {
    std::string_view string;
    if (value.get_string().get(string) != SUCCESS) return nullptr;
    end = write_escaped(string, out);
  } else if (value.get_raw_json_string().error() != SUCCESS) {
    return nullptr;
  }
  *end++ = '"';
  return end;
}

[[gnu::always_inline]] inline char* write_literal(std::string_view literal, char* out) {
  std::memcpy(out, literal.data(), literal.size());
  return out + literal.size();
}

[[gnu::always_inline]] inline char* write_bool(ondemand::value& value, char* out) {
  bool truth = false;
  if (value.get_bool().get(truth) != SUCCESS) return nullptr;
  return truth ? write_literal("true", out) : write_literal("false", out);
}

[[gnu::always_inline]] inline char* write_null(ondemand::value& value, char* out) {
  if (value.is_null().error() != SUCCESS) return nullptr;
  return write_literal("null", out);
}

[[gnu::always_inline]] inline char* write_number(const char* token, char* out) {
  const char* end = find_number_end(token);
  if (end == nullptr || !kAfterNumber[*end]) return nullptr;
  return copy_blocks({token, end}, out);
}

[[gnu::always_inline]] inline char* write_value(ondemand::value& value, std::size_t open_count, char* out) {
  const char* token = token_of(value);
  switch (*token) {
    case '[': {
      ondemand::array elements;
      if (open_count == kDepthMax || value.get_array().get(elements) != SUCCESS) return nullptr;
      return write_array(elements, open_count + 1, out);
    }
    case '{': {
      ondemand::object members;
      if (open_count == kDepthMax || value.get_object().get(members) != SUCCESS) return nullptr;
      return write_object(members, open_count + 1, out);
    }
    case '"': return write_string(value, token, out);
    case 't':
    case 'f': return write_bool(value, out);
    case 'n': return write_null(value, out);
    default: return write_number(token, out);
  }
}

/// The whole text is one string if its first quote or backslash that is one is its last octet.
char* write_root_string(std::string_view scalar, ondemand::document& document, char* out) {
  const char* last = scalar.data() + scalar.size() - 1;
  *out++ = '"';
  char* end = copy_until_quote(scalar.data() + 1, out);
  if (end != nullptr) {
    if (find_quote_or_backslash(scalar.data() + 1) != last) return nullptr;
  } else {
    std::size_t offset = 1;
    while (offset < scalar.size() && scalar[offset] != '"') offset += scalar[offset] == '\\' ? 2 : 1;
    std::string_view string;
    if (offset + 1 != scalar.size() || document.get_string().get(string) != SUCCESS) return nullptr;
    end = write_escaped(string, out);
  }
  *end++ = '"';
  return end;
}

/// simdjson's own readers of a text that is one scalar allow content behind it.
char* write_root_scalar(std::string_view scalar, ondemand::document& document, char* out) {
  if (scalar.empty()) return nullptr;
  if (scalar.front() == '"') return write_root_string(scalar, document, out);
  if (scalar == "null" || scalar == "true" || scalar == "false") return write_literal(scalar, out);
  char* end = write_literal(scalar, out);
  *end = '\0';
  return find_number_end(out) == end ? end : nullptr;
}

}  // namespace

DocumentRewriter::DocumentRewriter(std::size_t text_size_expected)
    : parser_(std::make_unique<OnDemandParser>(text_size_expected)) {}
DocumentRewriter::DocumentRewriter(DocumentRewriter&&) noexcept = default;
DocumentRewriter& DocumentRewriter::operator=(DocumentRewriter&&) noexcept = default;
DocumentRewriter::~DocumentRewriter() = default;

char* DocumentRewriter::rewrite(std::string_view text, char* out) {
  ondemand::document document;
  if (!parser_->open(text, document)) return nullptr;
  ondemand::object members;
  ondemand::array elements;
  char* end = nullptr;
  if (document.get_object().get(members) == SUCCESS) {
    end = write_object(members, 1, out);
  } else if (document.get_array().get(elements) == SUCCESS) {
    end = write_array(elements, 1, out);
  } else {
    return write_root_scalar(root_scalar(text, document), document, out);
  }
  return end != nullptr && is_at_end(document) ? end : nullptr;
}

bool DocumentRewriter::storage_is_large() const noexcept { return parser_->storage_is_large(); }

void DocumentRewriter::release_spare() { parser_->release_spare(); }

}  // namespace rest_echo::json
