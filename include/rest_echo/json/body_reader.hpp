#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "rest_echo/bytes/padding.hpp"
#include "rest_echo/json/body.hpp"

namespace rest_echo::json {

class TokenIndex;

/// Reads JSON texts that are a Body. Storage grows with the texts; none is allocated once warm.
class BodyReader {
 public:
  /// Keeps storage for texts of `text_size_expected` octets; longer ones are read all the same.
  explicit BodyReader(std::size_t text_size_expected = 4096);
  BodyReader(BodyReader&&) noexcept;
  BodyReader& operator=(BodyReader&&) noexcept;
  ~BodyReader();

  /// Reads the whole of `text`, which is followed by at least kPaddingSize readable octets. Strings in `body`
  /// view `text` and this reader's storage; they live until the next read or `release_spare`. False: not a
  /// Body, and `body` is unspecified; `locate_fault(text, Mode::typed)` tells what is wrong and where.
  [[nodiscard]] bool read(std::string_view text, Body& body);

  [[nodiscard]] bool storage_is_large() const noexcept;
  /// Gives back what a large text took; does nothing when nothing was grown.
  void release_spare() noexcept;

 private:
  std::unique_ptr<TokenIndex> index_;
};

}  // namespace rest_echo::json
