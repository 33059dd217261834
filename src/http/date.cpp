#include "rest_echo/http/date.hpp"

#include <fmt/format.h>

namespace rest_echo::http {

bool Date::set(std::time_t seconds_since_epoch) {
  if (seconds_since_epoch == seconds_) return false;
  seconds_ = seconds_since_epoch;
  static constexpr std::array<std::string_view, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm utc{};
  ::gmtime_r(&seconds_, &utc);
  fmt::format_to_n(text_.data(), text_.size(), "{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT",
                   kDays[static_cast<std::size_t>(utc.tm_wday)], utc.tm_mday,
                   kMonths[static_cast<std::size_t>(utc.tm_mon)], utc.tm_year + 1900, utc.tm_hour, utc.tm_min,
                   utc.tm_sec);
  return true;
}

}  // namespace rest_echo::http
