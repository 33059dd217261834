#pragma once

#include <string>
#include <string_view>

#include "rest_echo/bytes/padding.hpp"
#include "support/guarded_space.hpp"

namespace rest_echo::json {

/// A text with just its padding before an unmapped page.
class GuardedText {
 public:
  /// `text` followed by padding that holds copies of `fill`.
  std::string_view place(std::string_view text, char fill = '\0') {
    octets_.assign(text).append(kPaddingSize, fill);
    return {space_.place(octets_).data(), text.size()};
  }

 private:
  test::GuardedSpace space_;
  std::string octets_;
};

/// Room for output before an unmapped page.
class GuardedRoom {
 public:
  char* take(std::size_t size) {
    octets_.resize(size);
    return space_.place(octets_).data();
  }

 private:
  test::GuardedSpace space_;
  std::string octets_;
};

}  // namespace rest_echo::json
