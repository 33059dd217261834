#include "rest_echo/app/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>

#include "rest_echo/app/environment.hpp"
#include "rest_echo/app/option_docs.hpp"
#include "rest_echo/json/library.hpp"
#include "rest_echo/net/log.hpp"

namespace rest_echo::app {
namespace {

struct Unit {
  std::string_view suffix;
  std::int64_t factor;
};

constexpr std::array kNoUnits{Unit{"", 1}};
constexpr std::array kSizeUnits{Unit{"", 1}, Unit{"k", 1LL << 10}, Unit{"M", 1LL << 20}, Unit{"K", 1LL << 10},
                                Unit{"m", 1LL << 20}};
constexpr std::array kDurationUnits{Unit{"s", 1000}, Unit{"ms", 1}, Unit{"m", 60'000}, Unit{"h", 3'600'000},
                                    Unit{"", 1000}};

/// A number option's values: what it counts, in which units it may be written, and its range.
struct NumberKind {
  std::string_view noun;
  std::string_view type_name;
  std::span<const Unit> units;
  std::int64_t min;
  std::int64_t max;
  std::string_view range;  // as people write it
};

constexpr std::int64_t kDayMs = 24 * 3'600'000;

constexpr NumberKind kPort{"port", "N", kNoUnits, 0, 65535, "0 to 65535; 0 picks a free one"};
constexpr NumberKind kWorkerCount{"number of workers", "N|auto", kNoUnits, 1, 1024, "1 to 1024, or auto"};
constexpr NumberKind kBacklog{"count", "N", kNoUnits, 1, 1 << 20, "1 to 1048576"};
constexpr NumberKind kConnectionCount{"count", "N", kNoUnits, 1, 1 << 24, "1 to 16777216"};
constexpr NumberKind kBodySize{"size", "SIZE", kSizeUnits, 1, 1LL << 28, "1 to 256M, with suffix k or M"};
constexpr NumberKind kHeadSize{"size", "SIZE", kSizeUnits, 256, 1LL << 20, "256 to 1M, with suffix k or M"};
constexpr NumberKind kTimeout{"duration", "TIME", kDurationUnits,
                              1,          kDayMs, "1ms to 24h, with unit ms, s, m or h"};
constexpr NumberKind kGracePeriod{"duration", "TIME", kDurationUnits,
                                  0,          kDayMs, "0s to 24h, with unit ms, s, m or h"};

std::optional<std::int64_t> read_number(std::string_view text, const NumberKind& kind) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || text.front() == '-') return std::nullopt;
  const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
  const auto unit = std::ranges::find(kind.units, suffix, &Unit::suffix);
  if (unit == kind.units.end() || number > kind.max / unit->factor) return std::nullopt;
  number *= unit->factor;
  return number >= kind.min ? std::optional(number) : std::nullopt;
}

[[noreturn]] void refuse(const std::string& name, std::string_view text, const NumberKind& kind) {
  throw CLI::ValidationError(name,
                             fmt::format("'{}' is not a {} in the range {}", text, kind.noun, kind.range));
}

// As in the seeds: any value but 0 asks for a worker a CPU.
bool asks_for_cluster() {
  const std::string_view value = environment_value("CLUSTER");
  return !value.empty() && value != "0";
}

// Adds `--name` with its environment variable; `T` must hold the kind's whole range.
template <typename T>
CLI::Option* add_number(CLI::App& app, const std::string& names, const std::string& environment, T& target,
                        const NumberKind& kind, const std::string& what, const std::string& default_text) {
  const std::string name = names.substr(names.find("--"));
  const auto take = [&target, &kind, name](const std::string& text) {
    const std::optional<std::int64_t> number = read_number(text, kind);
    if (!number) {
      throw CLI::ValidationError(
          name, fmt::format("'{}' is not a {} in the range {}", text, kind.noun, kind.range));
    }
    target = static_cast<T>(*number);
  };
  return app.add_option_function<std::string>(names, take, fmt::format("{} [{}]", what, kind.range))
      ->envname(environment)
      ->type_name(std::string(kind.type_name))
      ->default_str(default_text)
      ->take_last();
}

// Adds an option whose value is one of `choices` (`a|b`), given to `take`; an empty one where it may be left
// out.
CLI::Option* add_choice(CLI::App& app, const std::string& name, const std::string& environment,
                        const std::string& choices, const std::function<void(const std::string&)>& take,
                        const std::string& what) {
  const auto take_choice = [take, name, choices](const std::string& text) {
    const std::vector<std::string> allowed = CLI::detail::split(choices, '|');
    if (!text.empty() && std::ranges::find(allowed, text) == allowed.end()) {
      throw CLI::ValidationError(name, fmt::format("'{}' is none of {}", text, fmt::join(allowed, ", ")));
    }
    take(text);
  };
  return app.add_option_function<std::string>(name, take_choice, what)
      ->envname(environment)
      ->type_name(choices)
      ->take_last();
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j + 1] + 1, row[j] + 1});
    }
  }
  return row.back();
}

// The option that was probably meant, or nothing.
std::string find_nearest_option(const CLI::App& app, std::string_view unknown) {
  constexpr std::size_t kDistanceMax = 3;
  const std::string_view name = unknown.substr(0, unknown.find('='));
  std::string nearest;
  std::size_t distance_least = kDistanceMax + 1;
  for (const CLI::Option* option : app.get_options()) {
    const std::string candidate = "--" + option->get_single_name();
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < distance_least) {
      distance_least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string explain(const CLI::ParseError& error, const CLI::App& app) {
  if (dynamic_cast<const CLI::ConversionError*>(&error) !=
      nullptr) {  // only flags are converted by the library
    return fmt::format("{} is not true or false", error.what());
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const std::string text = error.what();
    const CLI::Option* option = app.get_option_no_throw(text.substr(0, text.find(':')));
    return fmt::format("{}; {}", text, option == nullptr ? "see --help" : option->get_description());
  }
  const std::vector<std::string> unknown = app.remaining();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr || unknown.empty()) return error.what();
  const std::string nearest = find_nearest_option(app, unknown.front());
  return nearest.empty() ? fmt::format("{}: unknown option", unknown.front())
                         : fmt::format("{}: unknown option; did you mean {}?", unknown.front(), nearest);
}

void check_hosts(const std::vector<std::string>& hosts) {
  for (const std::string& host : hosts) {
    if (!net::is_numeric_host(host)) {
      throw CLI::ValidationError("--host", fmt::format("'{}' is not a numeric IPv4 or IPv6 address", host));
    }
  }
}

// What to do instead of serving.
struct Errand {
  bool prints_manpage = false;
  std::string completions_shell;
};

void add_errands(CLI::App& app, Options& options, Errand& errand) {
  const auto take_healthcheck = [&options](const std::string& url) {
    options.healthcheck.emplace();
    if (url.empty() || url == "true") return;  // no URL: the library's word for a bare flag
    if (!read_healthcheck_url(url, *options.healthcheck)) {
      throw CLI::ValidationError("--healthcheck",
                                 fmt::format("'{}' is not http://ADDRESS[:PORT][/PATH]", url));
    }
  };
  app.add_option_function<std::string>(
         "--healthcheck", take_healthcheck,
         "Ask a running server for its health, at --port or the URL; exit with 0 or 1")
      ->expected(0, 1)
      ->type_name("URL")
      ->take_last();
  app.add_flag("--print-manpage", errand.prints_manpage, "Print the manual page");
  add_choice(
      app, "--print-completions", "", "bash|zsh|fish",
      [&errand](const std::string& shell) { errand.completions_shell = shell; },
      "Print completions for a shell");
}

std::vector<OptionDoc> list_options(const CLI::App& app) {
  std::vector<OptionDoc> docs;
  for (const CLI::Option* option : app.get_options()) {
    OptionDoc doc{.short_name = option->get_snames().empty() ? "" : "-" + option->get_snames().front(),
                  .long_name = "--" + option->get_lnames().front(),
                  .value_name = option->get_items_expected_max() == 0 ? "" : option->get_type_name(),
                  .is_value_optional = option->get_items_expected_min() == 0,
                  .default_text = option->get_default_str(),
                  .environment = option->get_envname(),
                  .description = option->get_description(),
                  .choices = {}};
    if (doc.value_name.find('|') != std::string::npos) {
      for (const std::string& choice : CLI::detail::split(doc.value_name, '|')) {
        if (choice != "N") doc.choices.push_back(choice);
      }
    }
    docs.push_back(std::move(doc));
  }
  return docs;
}

void add_options(CLI::App& app, Options& options) {
  net::EventLoopOptions& loop = options.event_loop;
  // The seeds' name for it counts too, unless ours is set.
  add_number(app, "-p,--port", environment_value("REST_ECHO_PORT").empty() ? "PORT" : "REST_ECHO_PORT",
             options.port, kPort, "Port to listen on; REST_ECHO_PORT goes before PORT", "3000");
  app.add_option(
         "-H,--host", options.hosts,
         "Numeric address to listen on, repeatable [IPv4 or IPv6; default :: for both, or 0.0.0.0 where IPv6 "
         "is off]")
      ->envname("REST_ECHO_HOST")
      ->type_name("ADDRESS")
      ->delimiter(',')
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("-u,--unix", options.unix_path,
                 "Unix socket to listen on; TCP as well only where --port or --host says so")
      ->envname("REST_ECHO_UNIX")
      ->type_name("PATH")
      ->take_last();
  options.worker_count = asks_for_cluster() ? std::nullopt : std::optional<std::size_t>(1);
  const auto take_workers = [&options](const std::string& text) {
    const std::optional<std::int64_t> count = read_number(text, kWorkerCount);
    if (!count && text != "auto") refuse("--workers", text, kWorkerCount);
    options.worker_count = count ? std::optional(static_cast<std::size_t>(*count)) : std::nullopt;
  };
  app.add_option_function<std::string>(
         "-w,--workers", take_workers,
         fmt::format(
             "Processes that serve; auto: a CPU each, within the CPU quota; CLUSTER=1 means auto [{}]",
             kWorkerCount.range))
      ->envname("REST_ECHO_WORKERS")
      ->type_name(std::string(kWorkerCount.type_name))
      ->default_str("1")
      ->take_last();
  app.add_flag("--pin", options.is_pinned, "Keep worker i on the i-th allowed CPU")->envname("REST_ECHO_PIN");
  const auto take_json = [&loop](const std::string& text) {
    loop.json_mode = text == "typed" ? json::Mode::typed : json::Mode::generic;
  };
  add_choice(app, "--json", "REST_ECHO_JSON", "typed|generic", take_json,
             "Documents to echo: those of the colour type, or any")
      ->default_str("typed");
  add_number(app, "--max-body", "REST_ECHO_MAX_BODY", loop.limits.body_size_max, kBodySize,
             "Largest request body in octets, decoded", "1M");
  add_number(app, "--max-head", "REST_ECHO_MAX_HEAD", loop.limits.head_size_max, kHeadSize,
             "Largest request line and header section in octets", "16k");
  add_number(
      app, "--max-connections", "REST_ECHO_MAX_CONNECTIONS", loop.connection_count_max, kConnectionCount,
      "Connections open at once, shared out among the workers; further ones wait in the backlog", "65536");
  add_number(app, "--backlog", "REST_ECHO_BACKLOG", options.backlog, kBacklog,
             "Connections waiting to be accepted; the kernel may allow fewer", "4096");
  add_number(app, "--head-timeout", "REST_ECHO_HEAD_TIMEOUT", loop.head_timeout_ms, kTimeout,
             "From a request's first octet to the end of its head", "10s");
  add_number(app, "--body-timeout", "REST_ECHO_BODY_TIMEOUT", loop.body_timeout_ms, kTimeout,
             "From the end of the head to the end of the body", "30s");
  add_number(app, "--idle-timeout", "REST_ECHO_IDLE_TIMEOUT", loop.idle_timeout_ms, kTimeout,
             "Between two requests", "60s");
  add_number(app, "--write-timeout", "REST_ECHO_WRITE_TIMEOUT", loop.write_timeout_ms, kTimeout,
             "While a client takes none of its answers", "30s");
  add_number(app, "--grace-period", "REST_ECHO_GRACE_PERIOD", loop.grace_period_ms, kGracePeriod,
             "From SIGTERM or SIGINT to the end, for requests that have begun", "5s");
  const auto take_access_log = [&loop](const std::string& text) {
    loop.access_log = text == "json" ? echo::AccessLog::Format::json : echo::AccessLog::Format::text;
  };
  add_choice(app, "--access-log", "REST_ECHO_ACCESS_LOG", "text|json", take_access_log,
             "Print a line for each answer: common log format (text, unless told otherwise) or JSON")
      ->expected(0, 1);
  app.add_flag("--stats", options.prints_stats, "Print counters at the end, as SIGUSR1 does at any time")
      ->envname("REST_ECHO_STATS");
  app.add_flag("-q,--quiet", options.is_quiet, "Print errors only")->envname("REST_ECHO_QUIET");
}

}  // namespace

std::string describe_version() {
#if defined(__clang__)
  const std::string compiler =
      fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  const std::string compiler = fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
  return fmt::format("rest-echo {} ({}), {}, {}", REST_ECHO_VERSION, REST_ECHO_COMMIT, compiler,
                     json::describe_library());
}

std::variant<Options, Exit> read_options(int argc, const char* const* argv) {
  Options options;
  CLI::App app("A fast, strict HTTP/1.1 server that parses JSON into typed structs and sends it back.",
               "rest-echo");
  app.set_help_flag("-h,--help", "Print this help");
  app.set_version_flag(
      "-V,--version", [] { return describe_version(); }, "Print version, compiler and JSON kernel");
  app.get_formatter()->column_width(42);
  app.footer(
      "Each option may also be given by the environment variable behind it; the command line wins.\n"
      "Exit status: 0 normal end, 1 cannot listen or run, 2 wrong usage, 128 + n after a second signal n.");
  Errand errand;
  add_options(app, options);
  add_errands(app, options, errand);
  try {
    app.parse(argc, argv);
    check_hosts(options.hosts);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return Exit{app.exit(error)};
    net::log_line(fmt::format("{} (rest-echo --help lists the options)", explain(error, app)));
    return Exit{2};
  }
  if (errand.prints_manpage || !errand.completions_shell.empty()) {
    const std::vector<OptionDoc> docs = list_options(app);
    const std::string text = errand.prints_manpage ? format_manpage(docs, REST_ECHO_VERSION)
                                                   : format_completions(docs, errand.completions_shell);
    return Exit{std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0 ? 0 : 1};
  }
  const bool is_tcp_asked_for = app.count("--port") > 0 || app.count("--host") > 0;
  options.listens_on_tcp = options.unix_path.empty() || is_tcp_asked_for;
  if (options.healthcheck &&
      app.get_option("--healthcheck")->as<std::string>().find("://") == std::string::npos) {
    options.healthcheck->port = options.port;
    if (!options.listens_on_tcp) options.healthcheck->unix_path = options.unix_path;
    if (!options.hosts.empty()) options.healthcheck->host = options.hosts.front();
  }
  return options;
}

}  // namespace rest_echo::app
