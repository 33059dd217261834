// The manual page and the completions, printed by the program from its options.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "e2e/process.hpp"
#include "service/log_lines.hpp"
#include "service/sockets.hpp"
#include "service/text.hpp"

namespace rest_echo::e2e {
namespace {

/// An option as --help has it.
struct HelpOption {
  std::string short_name;  // with its hyphen, or ""
  std::string long_name;
  std::string environment;
};

// The text between two marks, or "".
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t offset = text.find(begin);
  if (offset == std::string::npos) return "";
  const std::size_t first = offset + begin.size();
  return text.substr(first, text.find_first_of(end, first) - first);
}

// An option's line is indented by two: `  -p,--port N=3000 (Env:PORT)  ...`
std::vector<HelpOption> help_options() {
  std::vector<HelpOption> options;
  for (const std::string& line : split_lines(run_server({"--help"}).output)) {
    if (!line.starts_with("  -")) continue;
    const std::string short_name = line[3] == '-' ? "" : line.substr(2, 2);
    options.push_back({short_name, "--" + between(line, "--", " "), between(line, "(Env:", ")")});
  }
  return options;
}

std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t i = text.find(from); i != std::string::npos; i = text.find(from, i + to.size())) {
    text.replace(i, from.size(), to);
  }
  return text;
}

class Printed : public testing::Test {
 protected:
  std::string print(const std::string& option, const std::string& file) const {
    const Finished finished = run_server({option});
    EXPECT_EQ(finished.status, 0);
    EXPECT_EQ(finished.errors, "");
    EXPECT_TRUE(finished.output.ends_with('\n'));
    std::ofstream(directory_.file(file)) << finished.output;
    return finished.output;
  }
  void expect_silence(std::vector<std::string> command, const std::string& package) const {
    if (!has_program(command.front())) GTEST_SKIP() << "no " << package << " here";
    const Finished finished = run({.command = std::move(command)});
    EXPECT_EQ(finished.status, 0);
    EXPECT_EQ(finished.output + finished.errors, "");
  }

  TemporaryDirectory directory_;
};

TEST(Help, NamesEnoughOptionsToBeReadHere) {
  const std::vector<HelpOption> options = help_options();
  EXPECT_GE(options.size(), 20U);
  for (const char* name :
       {"--port", "--unix", "--access-log", "--stats", "--healthcheck", "--print-manpage"}) {
    EXPECT_EQ(std::ranges::count(options, name, &HelpOption::long_name), 1) << name;
  }
}

class Manpage : public Printed {
 protected:
  const std::string page_ = print("--print-manpage", "rest-echo.1");
  const std::string file_ = directory_.file("rest-echo.1");
};

TEST_F(Manpage, NamesEveryOption) {
  for (const HelpOption& option : help_options()) {
    const std::string name = replace_all(option.long_name, "-", "\\-");
    const std::string short_name = option.short_name.empty() ? "" : "\\" + option.short_name + ", ";
    EXPECT_TRUE(contains(page_, ".B " + short_name + name + "\n") ||
                contains(page_, ".B " + short_name + name + " ") ||
                contains(page_, ".B " + short_name + name + "["))
        << option.long_name;
    EXPECT_TRUE(contains(page_, option.environment)) << option.environment;
  }
}

TEST_F(Manpage, HasTheUsualSections) {
  for (const char* section : {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "ENVIRONMENT", "EXIT STATUS"}) {
    EXPECT_TRUE(contains(page_, std::string(".SH ") + section + "\n")) << section;
  }
  EXPECT_TRUE(page_.starts_with(".TH REST\\-ECHO 1 ")) << page_.substr(0, 80);
  EXPECT_TRUE(std::ranges::all_of(page_, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
}

TEST_F(Manpage, IsReadByMan) {
  if (!has_program("man")) GTEST_SKIP() << "no man here";
  const Finished finished =
      run({.command = {"man", "--warnings", "-P", "cat", "-l", file_},
           .environment = {"MANWIDTH=100", "LC_ALL=C.UTF-8", "TERM=dumb", "MAN_KEEP_FORMATTING="}});
  EXPECT_EQ(finished.status, 0);
  EXPECT_EQ(finished.errors, "");
  const std::string& text = finished.output;
  if (!contains(text, "SYNOPSIS")) GTEST_SKIP() << "man shows nothing here: " << text.substr(0, 200);
  for (const HelpOption& option : help_options()) EXPECT_TRUE(contains(text, option.long_name)) << text;
}

TEST_F(Manpage, IsGoodToGroff) { expect_silence({"groff", "-ww", "-man", "-Tascii", "-z", file_}, "groff"); }
TEST_F(Manpage, IsGoodToMandoc) { expect_silence({"mandoc", "-Tlint", "-Wwarning", file_}, "mandoc"); }

TEST_F(Manpage, IsTheSameEachTime) {
  EXPECT_EQ(run_server({"--print-manpage"}).output, page_);
  EXPECT_EQ(run_server({"--print-manpage", "--port", "80", "--json", "generic", "--workers", "3"}).output,
            page_)
      << "what is set is not what is documented";
}

class BashCompletion : public Printed {
 protected:
  void SetUp() override {
    if (!has_program("bash")) GTEST_SKIP() << "no bash here";
  }
  // What bash offers for the last word; words as readline breaks them, `=` one of its own.
  [[nodiscard]] std::set<std::string> complete(const std::vector<std::string>& words) const {
    const std::string script = "source '" + file_ +
                               "' || exit 1\n"
                               "function=$(complete -p rest-echo | sed -n 's/.*-F \\([^ ]*\\) .*/\\1/p')\n"
                               "COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1)) COMPREPLY=()\n"
                               "current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
                               "\"$function\" rest-echo \"$current\" \"$previous\"\n"
                               "if [ ${#COMPREPLY[@]} -gt 0 ]; then printf '%s\\n' \"${COMPREPLY[@]}\"; fi\n";
    std::vector<std::string> command{"bash", "--norc", "-c", script, "bash", "rest-echo"};
    command.insert(command.end(), words.begin(), words.end());
    const Finished finished = run({.command = command});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_EQ(finished.errors, "");
    const std::vector<std::string> lines = split_lines(finished.output);
    return {lines.begin(), lines.end()};
  }

  const std::string script_ = print("--print-completions=bash", "rest-echo.bash");
  const std::string file_ = directory_.file("rest-echo.bash");
};

TEST_F(BashCompletion, IsBash) { expect_silence({"bash", "-n", file_}, "bash"); }

TEST_F(BashCompletion, OffersEveryOption) {
  std::set<std::string> expected;
  for (const HelpOption& option : help_options()) {
    expected.insert(option.long_name);
    if (!option.short_name.empty()) expected.insert(option.short_name);
  }
  EXPECT_EQ(complete({"-"}), expected);
  EXPECT_EQ(complete({""}), expected);
  EXPECT_EQ(complete({"--quiet", "-"}), expected);
}

TEST_F(BashCompletion, OffersWhatBeginsSo) {
  using Set = std::set<std::string>;
  EXPECT_EQ(complete({"--max"}), (Set{"--max-body", "--max-head", "--max-connections"}));
  EXPECT_EQ(complete({"--uni"}), Set{"--unix"});
  EXPECT_EQ(complete({"--nothing"}), Set{});
}

TEST_F(BashCompletion, OffersValues) {
  using Set = std::set<std::string>;
  EXPECT_EQ(complete({"--json", ""}), (Set{"typed", "generic"}));
  EXPECT_EQ(complete({"--json", "g"}), Set{"generic"});
  EXPECT_EQ(complete({"--json", "="}), (Set{"typed", "generic"}));
  EXPECT_EQ(complete({"--json", "=", "t"}), Set{"typed"});
  EXPECT_EQ(complete({"--access-log", "="}), (Set{"text", "json"}));
  EXPECT_EQ(complete({"--print-completions", "=", "z"}), Set{"zsh"});
  EXPECT_EQ(complete({"--workers", "a"}), Set{"auto"});
  EXPECT_EQ(complete({"-w", "a"}), Set{"auto"});
}

TEST_F(BashCompletion, OffersNoOptionWhereAValueIsDue) {
  for (const char* option : {"--port", "-p", "--host", "--max-body", "--grace-period"}) {
    EXPECT_TRUE(complete({option, ""}).empty()) << option;
  }
  EXPECT_TRUE(complete({"--stats", "--jso"}).contains("--json")) << "a flag has none";
  EXPECT_TRUE(complete({"--access-log", "--jso"}).contains("--json")) << "and this one need not have one";
}

TEST_F(BashCompletion, OffersFilesForAPath) {
  std::ofstream(directory_.file("one.sock"));
  std::ofstream(directory_.file("two words.sock"));
  for (const char* option : {"--unix", "-u"}) {
    EXPECT_EQ(complete({option, directory_.file("o")}), std::set<std::string>{directory_.file("one.sock")});
    EXPECT_EQ(complete({option, directory_.file("t")}),
              std::set<std::string>{directory_.file("two words.sock")});
  }
}

TEST_F(Printed, ZshCompletionIsZsh) {
  const std::string script = print("--print-completions=zsh", "_rest-echo");
  EXPECT_TRUE(script.starts_with("#compdef rest-echo\n"));
  for (const HelpOption& option : help_options()) {
    const std::string begin = "\n  '" + option.long_name;
    EXPECT_TRUE(contains(script, begin + "[") || contains(script, begin + "=[") ||
                contains(script, begin + "=-["))
        << option.long_name;
    if (!option.short_name.empty()) {
      const std::string short_begin = "\n  '" + option.short_name;
      EXPECT_TRUE(contains(script, short_begin + "[") || contains(script, short_begin + "+["))
          << option.short_name;
    }
  }
  expect_silence({"zsh", "-n", directory_.file("_rest-echo")}, "zsh");
}

TEST_F(Printed, FishCompletionIsFish) {
  const std::string script = print("--print-completions=fish", "rest-echo.fish");
  for (const HelpOption& option : help_options()) {
    const std::string name = "complete -c rest-echo -l " + option.long_name.substr(2);
    const std::string names = option.short_name.empty() ? name : name + " -s " + option.short_name.substr(1);
    EXPECT_TRUE(contains(script, names + " ")) << names;
  }
  expect_silence({"fish", "-n", directory_.file("rest-echo.fish")}, "fish");
}

// The values are completed in fish itself, where it is.
TEST_F(Printed, FishCompletes) {
  if (!has_program("fish")) GTEST_SKIP() << "no fish here";
  print("--print-completions=fish", "rest-echo.fish");
  const auto complete = [&](const std::string& line) {
    return run({.command = {"fish", "--no-config", "-c",
                            "source " + directory_.file("rest-echo.fish") + "; complete -C '" + line + "'"},
                .environment = {"HOME=" + directory_.path()}})
        .output;
  };
  for (const HelpOption& option : help_options()) {
    EXPECT_TRUE(contains(complete("rest-echo --"), option.long_name)) << option.long_name;
  }
  EXPECT_TRUE(contains(complete("rest-echo --json "), "generic"));
  EXPECT_TRUE(contains(complete("rest-echo --json=g"), "generic"));
  EXPECT_TRUE(contains(complete("rest-echo --access-log="), "json"));
}

TEST(Printing, IsRefusedForOtherShells) {
  for (const char* shell : {"tcsh", "BASH", "bash|zsh"}) {
    const Finished finished = run_server({std::string("--print-completions=") + shell});
    EXPECT_EQ(finished.status, 2);
    EXPECT_EQ(finished.output, "");
    EXPECT_TRUE(contains(finished.errors, "bash, zsh, fish")) << finished.errors;
  }
  EXPECT_EQ(run_server({"--print-completions"}).status, 2);
}

TEST(Printing, FailsWhereItCannotBeWritten) {
  for (const char* option : {"--print-manpage", "--print-completions=bash"}) {
    Process process({.command = {server_program(), option}, .output_file = "/dev/full"});
    EXPECT_EQ(process.wait_for_end(), 1);
  }
}

}  // namespace
}  // namespace rest_echo::e2e
