#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rest_echo::app {

/// What there is to say of one option, whoever says it.
struct OptionDoc {
  std::string short_name;  ///< `-p`, or empty
  std::string long_name;   ///< `--port`
  std::string value_name;  ///< `N`; empty for a flag
  bool is_value_optional = false;
  std::string default_text;
  std::string environment;
  std::string description;
  std::vector<std::string> choices;  ///< the values, where they can be listed
};

/// The manual page, section 1, in man(7) macros.
[[nodiscard]] std::string format_manpage(const std::vector<OptionDoc>& options, std::string_view version);

/// A completion script for `bash`, `zsh` or `fish`.
[[nodiscard]] std::string format_completions(const std::vector<OptionDoc>& options, std::string_view shell);

}  // namespace rest_echo::app
