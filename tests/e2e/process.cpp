#include "e2e/process.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace rest_echo::e2e {
namespace {

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> environment_with(const std::vector<std::string>& added) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const bool is_for_server =
        text.starts_with("PORT=") || text.starts_with("CLUSTER=") || text.starts_with("REST_ECHO_");
    if (!is_for_server) environment.emplace_back(text);
  }
  environment.insert(environment.end(), added.begin(), added.end());
  return environment;
}

net::UniqueFd open_output(const std::string& file) {
  const int fd =
      file.empty() ? ::memfd_create("output", MFD_CLOEXEC) : ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd == -1) throw std::system_error(errno, std::generic_category(), "output of a process");
  return net::UniqueFd(fd);
}

// socket(AF_INET6, ...) fails from now on as it does on a kernel without IPv6.
bool take_ipv6_away() {
  constexpr std::uint32_t kFirstArgument = offsetof(seccomp_data, args);
  std::array filter{
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kFirstArgument),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{.len = filter.size(), .filter = filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// In the child, between fork and exec: system calls only.
[[noreturn]] void become(const Launch& launch, int input, int output, int errors, char* const* arguments,
                         char* const* environment) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const auto set_limit = [](std::uint64_t soft, std::uint64_t hard) {
    const rlimit limit{.rlim_cur = soft, .rlim_max = hard};
    return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
  };
  const bool is_ready = ::dup2(input, STDIN_FILENO) != -1 && ::dup2(output, STDOUT_FILENO) != -1 &&
                        ::dup2(errors, STDERR_FILENO) != -1 &&
                        (launch.descriptor_hard_limit == 0 ||
                         set_limit(launch.descriptor_soft_limit, launch.descriptor_hard_limit)) &&
                        (!launch.has_no_ipv6 || take_ipv6_away());
  if (is_ready) ::execvpe(arguments[0], arguments, environment);
  ::_exit(127);
}

std::string read_all(int fd) {
  std::string text;
  std::array<char, 4096> piece{};
  for (;;) {
    const ssize_t size = ::pread(fd, piece.data(), piece.size(), static_cast<off_t>(text.size()));
    if (size <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(size));
  }
}

std::string proc_file(pid_t pid, const std::string& name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

// A figure in kB from /proc/PID/status, in octets.
std::size_t status_size(pid_t pid, const std::string& name) {
  std::ifstream file(proc_file(pid, "status"));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name + ":")) return std::stoull(line.substr(name.size() + 1)) * 1024;
  }
  return 0;
}

// The fields of /proc/PID/stat from the state (field 3) on.
std::vector<std::string> stat_fields(pid_t pid) {
  const std::string text = read_file(proc_file(pid, "stat"));
  std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  return {std::istream_iterator<std::string>(fields), {}};
}

}  // namespace

std::string server_program() { return REST_ECHO_PROGRAM; }
std::string source_file(const std::string& path) { return std::string(REST_ECHO_SOURCE_DIR "/") + path; }

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool has_program(const std::string& name) {
  const char* const path = ::secure_getenv("PATH");
  std::istringstream directories(path == nullptr ? "" : path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    if (::access((directory + "/" + name).c_str(), X_OK) == 0) return true;
  }
  return false;
}

Process::Process(const Launch& launch)
    : output_(open_output(launch.output_file)), errors_(open_output(launch.error_file)) {
  std::vector<std::string> command = launch.command;
  std::vector<std::string> environment = environment_with(launch.environment);
  const std::vector<char*> arguments = pointers_to(command);
  const std::vector<char*> variables = pointers_to(environment);
  const std::string input_file = launch.input_file.empty() ? "/dev/null" : launch.input_file;
  const net::UniqueFd input(::open(input_file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!input.is_open()) throw std::system_error(errno, std::generic_category(), input_file);
  pid_ = ::fork();
  if (pid_ == -1) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid_ == 0) {
    become(launch, input.get(), output_.get(), errors_.get(), arguments.data(), variables.data());
  }
}

Process::~Process() {
  if (status_) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::string Process::output() const { return read_all(output_.get()); }
std::string Process::errors() const { return read_all(errors_.get()); }

void Process::send_signal(int signal) const {
  if (!status_) ::kill(pid_, signal);
}

std::optional<int> Process::wait_for_end(Milliseconds patience) {
  const auto has_ended = [this] {
    int status = 0;
    if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
      status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    return status_.has_value();
  };
  (void)eventually(has_ended, patience);
  return status_;
}

Finished run(const Launch& launch, Milliseconds patience) {
  Process process(launch);
  const std::optional<int> status = process.wait_for_end(patience);
  return {status.value_or(-1), process.output(), process.errors()};
}

Finished run_server(std::vector<std::string> arguments, std::vector<std::string> environment) {
  arguments.insert(arguments.begin(), server_program());
  return run({.command = std::move(arguments), .environment = std::move(environment)}, kPatience);
}

std::size_t resident_size(pid_t pid) { return status_size(pid, "VmRSS"); }
std::size_t resident_size_max(pid_t pid) { return status_size(pid, "VmHWM"); }

Milliseconds processor_time(pid_t pid) {
  constexpr std::size_t kUserTime = 14 - 3;
  constexpr std::size_t kSystemTime = 15 - 3;
  const std::vector<std::string> fields = stat_fields(pid);
  if (fields.size() <= kSystemTime) return Milliseconds{0};
  const long long ticks = std::stoll(fields[kUserTime]) + std::stoll(fields[kSystemTime]);
  return Milliseconds{ticks * 1000 / ::sysconf(_SC_CLK_TCK)};
}

std::size_t descriptor_count(pid_t pid) {
  std::error_code error;
  std::size_t count = 0;
  for (std::filesystem::directory_iterator it(proc_file(pid, "fd"), error), end; !error && it != end;
       it.increment(error)) {
    ++count;
  }
  return count;
}

std::vector<pid_t> children_of(pid_t pid) {
  constexpr std::size_t kParent = 4 - 3;
  std::vector<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto candidate = static_cast<pid_t>(std::stol(name));
    const std::vector<std::string> fields = stat_fields(candidate);
    if (fields.size() > kParent && std::stol(fields[kParent]) == pid) children.push_back(candidate);
  }
  return children;
}

}  // namespace rest_echo::e2e
