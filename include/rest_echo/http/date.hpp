#pragma once

#include <array>
#include <cstddef>
#include <ctime>
#include <string_view>

namespace rest_echo::http {

/// The Date of responses in IMF-fixdate (RFC 9110 §5.6.7), formatted anew only when the second has changed.
class Date {
 public:
  static constexpr std::size_t kSize = 29;  // "Sun, 06 Nov 1994 08:49:37 GMT"

  /// Sets the time. Returns whether the text has changed.
  bool set(std::time_t seconds_since_epoch);
  [[nodiscard]] std::string_view text() const noexcept { return {text_.data(), text_.size()}; }

 private:
  std::time_t seconds_ = -1;
  std::array<char, kSize> text_{};
};

}  // namespace rest_echo::http
