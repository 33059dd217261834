#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "rest_echo/bytes/padding.hpp"

namespace rest_echo::json {

class TokenIndex;

/// Room that `DocumentRewriter::rewrite` needs for a text of `text_size` octets. What it writes is never
/// longer than the text; the rest is there because octets are stored in blocks.
[[nodiscard]] constexpr std::size_t document_text_size_max(std::size_t text_size) noexcept {
  return text_size + 64;
}

/// Re-serialises any JSON text: white space between tokens goes, strings get the fewest escapes, numbers, the
/// order of members and repeated keys stay as they are. Writing the outcome again changes nothing.
class DocumentRewriter {
 public:
  /// Keeps storage for texts of `text_size_expected` octets; longer ones are read all the same.
  explicit DocumentRewriter(std::size_t text_size_expected = 4096);
  DocumentRewriter(DocumentRewriter&&) noexcept;
  DocumentRewriter& operator=(DocumentRewriter&&) noexcept;
  ~DocumentRewriter();

  /// Reads the whole of `text`, which is followed by at least kPaddingSize readable octets, and writes it to
  /// `out`, where `document_text_size_max` octets must be free. Returns the end of what was written, or
  /// nullptr if `text` is refused: `locate_fault(text, Mode::generic)` tells what is wrong and where.
  [[nodiscard]] char* rewrite(std::string_view text, char* out);

  [[nodiscard]] bool storage_is_large() const noexcept;
  /// Gives back what a large text took; does nothing when nothing was grown.
  void release_spare() noexcept;

 private:
  std::unique_ptr<TokenIndex> index_;
};

}  // namespace rest_echo::json
