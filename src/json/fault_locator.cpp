#include "rest_echo/json/fault_locator.hpp"

#include <array>
#include <cassert>
#include <charconv>

#include "rest_echo/bytes/ascii.hpp"
#include "rest_echo/bytes/octet_set.hpp"

namespace rest_echo::json {
namespace {

constexpr OctetSet kWhiteSpace = OctetSet{}.with(" \t\n\r");

/// The size of the well-formed UTF-8 sequence at the start of `text` (RFC 3629), or 0.
std::size_t utf8_sequence_size(std::string_view text) {
  const auto octet = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const auto is_tail = [&](std::size_t i) { return octet(i) >= 0x80 && octet(i) <= 0xBF; };
  const unsigned lead = octet(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;
  if (lead < 0xE0) return is_tail(1) ? 2 : 0;
  if (lead < 0xF0) {
    const bool is_overlong = lead == 0xE0 && octet(1) < 0xA0;
    const bool is_surrogate = lead == 0xED && octet(1) > 0x9F;
    return is_tail(1) && is_tail(2) && !is_overlong && !is_surrogate ? 3 : 0;
  }
  if (lead < 0xF5) {
    const bool is_overlong = lead == 0xF0 && octet(1) < 0x90;
    const bool is_too_large = lead == 0xF4 && octet(1) > 0x8F;
    return is_tail(1) && is_tail(2) && is_tail(3) && !is_overlong && !is_too_large ? 4 : 0;
  }
  return 0;
}

/// The offset of the first ill-formed sequence.
std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t size = utf8_sequence_size(text.substr(offset));
    if (size == 0) return offset;
    offset += size;
  }
  return std::nullopt;
}

/// What may stand at a place of a Body.
enum class Due : std::uint8_t { anything, body, colors, color, code, rgba, number, string };

struct Member {
  Due owner;
  std::string_view key;
  Due due;
};
constexpr std::array<Member, 7> kMembers{{{Due::body, "colors", Due::colors},
                                          {Due::color, "color", Due::string},
                                          {Due::color, "category", Due::string},
                                          {Due::color, "type", Due::string},
                                          {Due::color, "code", Due::code},
                                          {Due::code, "rgba", Due::rgba},
                                          {Due::code, "hex", Due::string}}};
constexpr std::size_t kKeySizeMax = 8;

/// The Unicode code unit of four hexadecimal digits.
unsigned code_unit(std::string_view digits) {
  unsigned unit = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), unit, 16);
  return unit;
}

/// A well-formed key without its escapes if it is short and all letters, else nothing: no member has another.
std::string letters_of_key(std::string_view key) {
  std::string letters;
  while (!key.empty()) {
    unsigned unit = static_cast<unsigned char>(key.front());
    std::size_t size = 1;
    if (key.starts_with("\\u")) {
      unit = code_unit(key.substr(2, 4));
      size = 6;
    }
    if (unit > 0x7F || !kLetters[static_cast<char>(unit)] || letters.size() == kKeySizeMax) return {};
    letters.push_back(static_cast<char>(unit));
    key.remove_prefix(size);
  }
  return letters;
}

/// Reads a text by the grammar of RFC 8259 up to its first fault. Each `take_x` moves behind an x and returns
/// true, or notes the fault and returns false. On the way the first value of a wrong type is noted.
class Locator {
 public:
  Locator(std::string_view text, Mode mode) : text_(text), mode_(mode) {}

  std::optional<Fault> locate();

 private:
  bool take_text();
  bool take_value(Due due);
  bool take_array(Due due);
  bool take_object(Due due);
  bool take_member(Due owner);
  bool take_string();
  bool take_escape();
  bool take_unicode_escape();
  bool take_low_surrogate(std::size_t high_offset);
  bool take_number();
  bool take_digits();
  bool take_literal(std::string_view literal);

  [[nodiscard]] bool is_at_end() const { return offset_ == text_.size(); }
  /// The next octet; at the end NUL, which the grammar allows nowhere.
  [[nodiscard]] char next() const { return is_at_end() ? '\0' : text_[offset_]; }
  void skip_white_space() {
    while (!is_at_end() && kWhiteSpace[text_[offset_]]) ++offset_;
  }
  bool take(char octet) {
    if (next() != octet) return false;
    ++offset_;
    return true;
  }

  bool fail(FaultCode code, std::size_t offset) {
    fault_ = Fault{code, offset, {}};
    return false;
  }
  bool fail_here() { return fail(FaultCode::invalid_json, offset_); }

  /// Notes a mismatch if the value from `start` on is not what is due.
  void check_type(Due due, std::size_t start);
  [[nodiscard]] bool is_due(Due due, std::string_view value) const;

  std::string_view text_;
  Mode mode_;
  std::size_t offset_ = 0;
  std::size_t open_count_ = 0;
  std::string pointer_;  // of the value being read, while one is due that is not `anything`
  std::optional<Fault> fault_;
  std::optional<Fault> mismatch_;
};

std::optional<Fault> Locator::locate() {
  skip_white_space();
  if (is_at_end()) return Fault{FaultCode::empty_body, text_.size(), {}};
  const std::optional<std::size_t> invalid_utf8 = find_invalid_utf8(text_);
  const bool is_well_formed = take_text();
  if (invalid_utf8 && (is_well_formed || *invalid_utf8 <= fault_->offset)) {
    return Fault{FaultCode::invalid_utf8, *invalid_utf8, {}};
  }
  return is_well_formed ? mismatch_ : fault_;
}

bool Locator::take_text() {
  if (!take_value(mode_ == Mode::typed ? Due::body : Due::anything)) return false;
  skip_white_space();
  return is_at_end() || fail_here();
}

bool Locator::take_value(Due due) {
  const std::size_t start = offset_;
  switch (next()) {
    case '[':
    case '{':
      check_type(due, start);
      if (open_count_ == kDepthMax) return fail(FaultCode::too_deep, offset_);
      return next() == '[' ? take_array(due) : take_object(due);
    case '"':
      if (!take_string()) return false;
      break;
    case 't':
      if (!take_literal("true")) return false;
      break;
    case 'f':
      if (!take_literal("false")) return false;
      break;
    case 'n':
      if (!take_literal("null")) return false;
      break;
    default:
      if (!take_number()) return false;
  }
  check_type(due, start);
  return true;
}

bool Locator::is_due(Due due, std::string_view value) const {
  const char first = value.front();
  if (first == 'n') return true;
  switch (due) {
    case Due::anything: return true;
    case Due::body:
    case Due::color:
    case Due::code: return first == '{';
    case Due::colors:
    case Due::rgba: return first == '[';
    case Due::string: return first == '"';
    case Due::number: {
      std::int64_t number = 0;
      const char* end = value.data() + value.size();
      const auto [number_end, error] = std::from_chars(value.data(), end, number);
      return error == std::errc{} && number_end == end;
    }
  }
  return true;
}

void Locator::check_type(Due due, std::size_t start) {
  if (mismatch_ || is_due(due, text_.substr(start, offset_ == start ? 1 : offset_ - start))) return;
  mismatch_ = Fault{FaultCode::type_mismatch, start, pointer_};
}

bool Locator::take_array(Due due) {
  // A wrong array's elements are read as anything.
  const Due element_due = due == Due::colors ? Due::color : due == Due::rgba ? Due::number : Due::anything;
  const std::size_t pointer_size = pointer_.size();
  ++offset_;
  ++open_count_;
  skip_white_space();
  if (!take(']')) {
    for (std::size_t index = 0;; ++index) {
      if (element_due != Due::anything) pointer_.append("/").append(std::to_string(index));
      skip_white_space();
      if (!take_value(element_due)) return false;
      pointer_.resize(pointer_size);
      skip_white_space();
      if (take(']')) break;
      if (!take(',')) return fail_here();
    }
  }
  --open_count_;
  return true;
}

bool Locator::take_object(Due due) {
  ++offset_;
  ++open_count_;
  skip_white_space();
  if (!take('}')) {
    for (;;) {
      skip_white_space();
      if (!take_member(due)) return false;
      skip_white_space();
      if (take('}')) break;
      if (!take(',')) return fail_here();
    }
  }
  --open_count_;
  return true;
}

bool Locator::take_member(Due owner) {
  const std::size_t key_start = offset_ + 1;
  if (next() != '"') return fail_here();
  if (!take_string()) return false;
  const std::string_view key = text_.substr(key_start, offset_ - 1 - key_start);
  skip_white_space();
  if (!take(':')) return fail_here();
  skip_white_space();

  Due due = Due::anything;
  const std::size_t pointer_size = pointer_.size();
  if (owner != Due::anything) {
    const std::string letters = letters_of_key(key);
    for (const Member& member : kMembers) {
      if (member.owner == owner && equals_ignoring_ascii_case(letters, member.key)) due = member.due;
    }
    // Letters need no `~0` or `~1`.
    if (due != Due::anything) pointer_.append("/").append(letters);
  }
  const bool is_taken = take_value(due);
  pointer_.resize(pointer_size);
  return is_taken;
}

bool Locator::take_string() {
  ++offset_;
  for (;;) {
    if (is_at_end()) return fail_here();
    const char octet = next();
    if (octet == '"') break;
    if (static_cast<unsigned char>(octet) < 0x20) return fail_here();
    if (octet != '\\') {
      ++offset_;
    } else if (!take_escape()) {
      return false;
    }
  }
  ++offset_;
  return true;
}

bool Locator::take_escape() {
  constexpr OctetSet kShortEscapes = OctetSet{}.with("\"\\/bfnrt");
  ++offset_;
  if (next() == 'u') {
    --offset_;
    return take_unicode_escape();
  }
  if (!kShortEscapes[next()]) return fail_here();
  ++offset_;
  return true;
}

bool Locator::take_unicode_escape() {
  const std::size_t start = offset_;
  offset_ += 2;
  for (int digit = 0; digit < 4; ++digit, ++offset_) {
    if (!kHexDigits[next()]) return fail_here();
  }
  const unsigned unit = code_unit(text_.substr(start + 2, 4));
  if (unit >= 0xDC00 && unit <= 0xDFFF) return fail(FaultCode::invalid_json, start);
  return unit < 0xD800 || unit > 0xDFFF || take_low_surrogate(start);
}

bool Locator::take_low_surrogate(std::size_t high_offset) {
  constexpr OctetSet kD = OctetSet{}.with("dD");
  constexpr OctetSet kCToF = OctetSet{}.with("cdefCDEF");
  constexpr std::array<OctetSet, 6> kEscape{
      OctetSet{}.with("\\"), OctetSet{}.with("u"), kD, kCToF, kHexDigits, kHexDigits};
  for (const OctetSet& allowed : kEscape) {
    if (is_at_end()) return fail_here();
    if (!allowed[next()]) return fail(FaultCode::invalid_json, high_offset);
    ++offset_;
  }
  return true;
}

bool Locator::take_number() {
  // number = [ "-" ] ( "0" / digit1-9 *digit ) [ "." 1*digit ] [ ( "e" / "E" ) [ "-" / "+" ] 1*digit ]
  take('-');
  if (!take('0') && !take_digits()) return false;
  if (take('.') && !take_digits()) return false;
  if (take('e') || take('E')) {
    if (!take('-')) take('+');
    return take_digits();
  }
  return true;
}

bool Locator::take_digits() {
  if (!kDigits[next()]) return fail_here();
  while (kDigits[next()]) ++offset_;
  return true;
}

bool Locator::take_literal(std::string_view literal) {
  for (const char octet : literal) {
    if (!take(octet)) return fail_here();
  }
  return true;
}

}  // namespace

std::string_view fault_code_name(FaultCode code) noexcept {
  switch (code) {
    case FaultCode::empty_body: return "empty_body";
    case FaultCode::invalid_utf8: return "invalid_utf8";
    case FaultCode::invalid_json: return "invalid_json";
    case FaultCode::too_deep: return "too_deep";
    case FaultCode::type_mismatch: return "type_mismatch";
  }
  assert(false);
  return "";
}

std::optional<Fault> locate_fault(std::string_view text, Mode mode) { return Locator(text, mode).locate(); }

}  // namespace rest_echo::json
