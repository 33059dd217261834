#include "rest_echo/json/document_rewriter.hpp"

#include <cstring>

#include "rest_echo/json/escape.hpp"
#include "scalar_grammar.hpp"
#include "string_scan.hpp"
#include "token_index.hpp"
#include "value_walk.hpp"

namespace rest_echo::json {
namespace {

/// Writes what it visits.
struct Writer {
  TokenIndex& index;
  char* out;

  void open(char bracket) { *out++ = bracket; }
  void close(char bracket) { *out++ = bracket; }
  void comma() { *out++ = ','; }
  void literal(std::string_view text) {
    std::memcpy(out, text.data(), text.size());
    out += text.size();
  }
  void number(const char* token, const char* end) { out = copy_blocks({token, end}, out); }
  bool key(const char* token) {
    if (!string(token)) return false;
    *out++ = ':';
    return true;
  }
  bool string(const char* token) {
    *out++ = '"';
    char* end = copy_until_quote(token + 1, out);
    if (end == nullptr) {
      const std::optional<std::string_view> unescaped = index.unescape(token + 1);
      if (!unescaped) return false;
      end = write_escaped(*unescaped, out);
    }
    *end++ = '"';
    out = end;
    return true;
  }
};

/// The text is one string if the first quote in it that no escape hides is its last octet.
bool is_one_string(std::string_view text) {
  std::size_t offset = 1;
  while (offset < text.size() && text[offset] != '"') offset += text[offset] == '\\' ? 2 : 1;
  return offset + 1 == text.size();
}

/// Writes a text that is one scalar. What follows it in memory may be digits, so a number is checked in the
/// copy, with a NUL behind it.
bool write_root_scalar(std::string_view text, Writer& writer) {
  if (text.front() == '"') return is_one_string(text) && writer.string(text.data());
  writer.literal(text);
  if (text == "null" || text == "true" || text == "false") return true;
  *writer.out = '\0';
  return find_number_end(writer.out - text.size()) == writer.out;
}

}  // namespace

DocumentRewriter::DocumentRewriter(std::size_t text_size_expected)
    : index_(std::make_unique<TokenIndex>(text_size_expected)) {}
DocumentRewriter::DocumentRewriter(DocumentRewriter&&) noexcept = default;
DocumentRewriter& DocumentRewriter::operator=(DocumentRewriter&&) noexcept = default;
DocumentRewriter::~DocumentRewriter() = default;

char* DocumentRewriter::rewrite(std::string_view text, char* out) {
  if (!index_->build(text)) return nullptr;
  Writer writer{*index_, out};
  const bool is_whole = index_->is_between('{', '}') || index_->is_between('[', ']')
                            ? walk_value(index_->begin(), 0, writer) == index_->end()
                            : write_root_scalar(trim(text), writer);
  return is_whole ? writer.out : nullptr;
}

bool DocumentRewriter::storage_is_large() const noexcept { return index_->storage_is_large(); }

void DocumentRewriter::release_spare() noexcept { index_->release_spare(); }

}  // namespace rest_echo::json
