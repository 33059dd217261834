#include "rest_echo/app/option_docs.hpp"

#include <fmt/format.h>

#include <cassert>

namespace rest_echo::app {
namespace {

// When the page's own text was last changed.
constexpr std::string_view kManpageDate = "2026-11-30";

// Text for a line of man(7): a leading dot or quote would be a macro, a hyphen a typographic one.
std::string escape_roff(std::string_view text) {
  std::string escaped;
  for (char octet : text) {
    if (octet == '-') {
      escaped += "\\-";
    } else if (octet == '\\') {
      escaped += "\\e";
    } else {
      escaped += octet;
    }
  }
  return escaped.starts_with('.') || escaped.starts_with('\'') ? "\\&" + escaped : escaped;
}

// Text between single quotes of a shell, with what `special` names behind a backslash.
std::string escape_quoted(std::string_view text, std::string_view special) {
  std::string escaped;
  for (char octet : text) {
    if (octet == '\'') {
      escaped += "'\\''";
    } else {
      if (special.find(octet) != std::string_view::npos) escaped += '\\';
      escaped += octet;
    }
  }
  return escaped;
}

std::string value_suffix(const OptionDoc& option) {
  if (option.value_name.empty()) return "";
  return option.is_value_optional ? fmt::format("[={}]", option.value_name)
                                  : fmt::format(" {}", option.value_name);
}

// Up to the first sentence's end: what fits a completion menu.
std::string_view summary(std::string_view description) {
  const std::string_view first = description.substr(0, description.find_first_of(";["));
  return first.substr(0, first.find_last_not_of(' ') + 1);
}

bool is_path(const OptionDoc& option) { return option.value_name == "PATH"; }

// What may stand behind an option that takes a value, if it has to be one; else the options stay.
std::string format_bash_case(const OptionDoc& option) {
  if (option.value_name.empty()) return "";
  const std::string names =
      option.short_name.empty() ? option.long_name : option.long_name + "|" + option.short_name;
  std::string action = fmt::format("words='{}'", fmt::join(option.choices, " "));
  if (is_path(option)) {
    action = R"(compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return)";
  } else if (option.is_value_optional) {
    action = (option.choices.empty() ? "[[ ! $equals ]] || " : "[[ $current == -* ]] || ") + action;
  }
  return fmt::format("    {})\n      {} ;;\n", names, action);
}

std::string format_bash(const std::vector<OptionDoc>& options) {
  std::string names;
  std::string cases;
  for (const OptionDoc& option : options) {
    if (!option.short_name.empty()) names += option.short_name + " ";
    names += option.long_name + " ";
    cases += format_bash_case(option);
  }
  names.pop_back();
  return fmt::format(R"(# bash completion for rest-echo
_rest_echo() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} equals=
  if [[ $current == = ]]; then
    current= equals=1
  elif [[ $previous == = ]]; then
    previous=${{COMP_WORDS[COMP_CWORD-2]}} equals=1
  fi
  local words='{}'
  case $previous in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -F _rest_echo rest-echo
)",
                     names, cases);
}

std::string format_zsh(const std::vector<OptionDoc>& options) {
  std::string arguments;
  for (const OptionDoc& option : options) {
    std::string action;
    if (!option.value_name.empty()) {
      const std::string values = option.choices.empty() ? (is_path(option) ? "_files" : "")
                                                        : fmt::format("({})", fmt::join(option.choices, " "));
      action = fmt::format("{}:{}:{}", option.is_value_optional ? ":" : "", option.value_name, values);
    }
    const std::string text = escape_quoted(summary(option.description), "[]:");
    const char* const equals = option.value_name.empty() ? "" : option.is_value_optional ? "=-" : "=";
    arguments += fmt::format(" \\\n  '{}{}[{}]{}'", option.long_name, equals, text, action);
    if (!option.short_name.empty()) {
      arguments += fmt::format(" \\\n  '{}{}[{}]{}'", option.short_name, option.value_name.empty() ? "" : "+",
                               text, action);
    }
  }
  return fmt::format("#compdef rest-echo\n_arguments{}\n", arguments);
}

std::string format_fish(const std::vector<OptionDoc>& options) {
  std::string lines;
  for (const OptionDoc& option : options) {
    lines += fmt::format("complete -c rest-echo -l {}", option.long_name.substr(2));
    if (!option.short_name.empty()) lines += fmt::format(" -s {}", option.short_name.substr(1));
    if (!option.value_name.empty() && !option.is_value_optional) lines += is_path(option) ? " -r" : " -x";
    if (!option.choices.empty()) lines += fmt::format(" -a '{}'", fmt::join(option.choices, " "));
    lines += fmt::format(" -d '{}'\n", escape_quoted(summary(option.description), ""));
  }
  return lines;
}

}  // namespace

std::string format_manpage(const std::vector<OptionDoc>& options, std::string_view version) {
  std::string page = fmt::format(R"(.TH REST\-ECHO 1 "{}" "rest\-echo {}" "User Commands"
.SH NAME
rest\-echo \- fast, strict JSON echo server
.SH SYNOPSIS
.B rest\-echo
.RI [ options ]
.SH DESCRIPTION
.B rest\-echo
is an HTTP/1.1 server that parses the JSON body of a request into typed structs and sends it back.
.PP
POST, PUT, PATCH and DELETE on any path are answered with their document, compact; GET without a body with
.IR "Hello World" ;
GET on
.I /healthz
with the server's health.
A fault is answered with a problem document (RFC 9457).
.PP
When it accepts connections it prints
.IR "Listening on port N" .
SIGTERM and SIGINT end it within the grace period; a second one ends it at once.
SIGHUP makes several workers restart one after another without losing a request; a single one ignores it, unless it
was started from a terminal that hangs up.
SIGUSR1 prints counters to the standard error.
.SH OPTIONS
)",
                                 kManpageDate, escape_roff(version));
  for (const OptionDoc& option : options) {
    page += ".TP\n.B ";
    if (!option.short_name.empty()) page += escape_roff(option.short_name) + ", ";
    page += escape_roff(option.long_name + value_suffix(option)) + "\n";
    page += escape_roff(option.description) + ".\n";
    if (!option.default_text.empty()) page += fmt::format("Default: {}.\n", escape_roff(option.default_text));
    if (!option.environment.empty()) page += fmt::format("Environment:\n.BR {} .\n", option.environment);
  }
  page += R"(.SH ENVIRONMENT
Each option may be given by the variable named with it; the command line wins.
.B PORT
and
.B CLUSTER
(any value but 0: workers auto) are understood as well.
.SH EXIT STATUS
0 after SIGTERM or SIGINT, 1 when it cannot listen or run, 2 for wrong usage, 128 plus its number after a second
signal.
.SH EXAMPLES
.nf
rest\-echo \-\-port 8080 \-\-workers auto
curl \-\-data @body.json http://localhost:8080/
.fi
)";
  return page;
}

std::string format_completions(const std::vector<OptionDoc>& options, std::string_view shell) {
  if (shell == "bash") return format_bash(options);
  if (shell == "zsh") return format_zsh(options);
  assert(shell == "fish");
  return format_fish(options);
}

}  // namespace rest_echo::app
