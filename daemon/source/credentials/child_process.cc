// posix_spawn() does not copy the daemon's page tables: it costs the same however much memory is
// mapped.
#include "source/credentials/child_process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "base/clock.h"

extern char** environ;

namespace echoline::source {
namespace {

// Credentials are a few kilobytes.
constexpr std::size_t kOutputBytesMax = 256 << 10;
// After SIGKILL a program ends at once, unless it hangs in the kernel. Then it is left to init.
constexpr int kEndPollsMax = 200;

// Attributes and descriptors of the new program.
class SpawnSettings {
 public:
  explicit SpawnSettings(int output) {
    ::posix_spawn_file_actions_init(&actions_);
    // Nothing to read: a program that asks a question finds the end of its input.
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    // Every other descriptor of the daemon, sockets and rings included.
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    ::posix_spawnattr_init(&attributes_);
    // Signals that the daemon's threads block must work in the program.
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    // A group of its own, so that its children can be killed with it.
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// The daemon's environment, with the call's variables in place of those of the same name.
std::vector<std::string> environment_of(const ProcessCall& call) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : call.variables) lines.push_back(name + "=" + value);
  const std::size_t own = lines.size();
  // Only variables of the call can replace one, so lines added below are not compared.
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view line = *at;
    bool is_replaced = false;
    for (std::size_t i = 0; i < own; ++i)
      // Up to and including '=': a longer name is another variable.
      is_replaced |= line.starts_with(lines[i].substr(0, lines[i].find('=') + 1));
    if (!is_replaced) lines.emplace_back(line);
  }
  return lines;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  // execve needs a null pointer at the end.
  pointers.push_back(nullptr);
  return pointers;
}

Status failure(std::string text) { return Status(Code::kUnavailable, std::move(text)); }

Result<std::string> judged(int wait_status, std::string text) {
  constexpr std::string_view kAdvice = "; run it by hand as the daemon's user to see why";
  if (WIFSIGNALED(wait_status))
    return failure(fmt::format("the program was ended by signal {}", WTERMSIG(wait_status)));
  // Not shown: the output could contain a secret.
  if (WEXITSTATUS(wait_status) != 0)
    return failure(
        fmt::format("the program ended with exit code {}{}", WEXITSTATUS(wait_status), kAdvice));
  return text;
}

}  // namespace

Result<std::unique_ptr<ChildProcess>> ChildProcess::start(const ProcessCall& call) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return errno_status(errno, "pipe");
  UniqueFd output(ends[0]);
  const UniqueFd input(ends[1]);
  // Only the daemon's end is non-blocking: programs do not expect it.
  ::fcntl(input.get(), F_SETFL, 0);
  const SpawnSettings settings(input.get());
  std::vector<std::string> words = call.arguments;
  std::vector<std::string> variables = environment_of(call);
  pid_t pid = -1;
  const int error =
      ::posix_spawnp(&pid, words[0].c_str(), settings.actions(), settings.attributes(),
                     // The vectors live until the call has returned; the program has copies by
                     // then.
                     pointers_to(words).data(), pointers_to(variables).data());
  if (error != 0)
    return Status(Code::kPermissionDenied, fmt::format("the program {} cannot be started: {}",
                                                       words[0], std::strerror(error)));
  return std::unique_ptr<ChildProcess>(new ChildProcess(pid, std::move(output), call.timeout_ns));
}

ChildProcess::ChildProcess(pid_t pid, UniqueFd output, std::uint64_t timeout_ns)
    : pid_(pid),
      output_(std::move(output)),
      timeout_ns_(timeout_ns),
      deadline_ns_(monotonic_ns() + timeout_ns) {}

ChildProcess::~ChildProcess() {
  // It was waited for, so its number may belong to another process.
  if (pid_ < 0) return;
  kill_group();
  // At most 200 ms: the destructor may run on the fetcher's thread.
  for (int i = 0; i < kEndPollsMax && ::waitpid(pid_, nullptr, WNOHANG) == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void ChildProcess::kill_group() const { ::kill(-pid_, SIGKILL); }

void ChildProcess::read_available() {
  char bytes[4096];
  // Until the pipe is empty for now, or its end.
  while (!too_long_) {
    const ssize_t count = ::read(output_.get(), bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text_.append(bytes, static_cast<std::size_t>(count));
    too_long_ = text_.size() > kOutputBytesMax;
  }
}

std::optional<Result<std::string>> ChildProcess::poll() {
  // First: everything that a program wrote before its end is then in the pipe.
  int status = 0;
  // WNOHANG: never waits.
  const bool has_ended = ::waitpid(pid_, &status, WNOHANG) == pid_;
  if (has_ended) pid_ = -1;
  read_available();
  // The destructor kills it.
  if (too_long_) return failure("the program's output is unreasonably long");
  if (has_ended) return judged(status, std::move(text_));
  if (monotonic_ns() < deadline_ns_) return std::nullopt;
  return failure(fmt::format("the program did not end within {} s", timeout_ns_ / 1'000'000'000));
}

}  // namespace echoline::source
