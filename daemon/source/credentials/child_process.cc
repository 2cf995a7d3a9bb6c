#include "source/credentials/child_process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/clock.h"
#include "base/spawn.h"

extern char** environ;

namespace echoline::source {
namespace {

// Credentials are a few kilobytes.
constexpr std::size_t kOutputBytesMax = 256 << 10;

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

Status failure(std::string text) { return Status(Code::kUnavailable, std::move(text)); }

Result<std::string> judged(int wait_status, std::string text) {
  if (WIFSIGNALED(wait_status)) return failure("the program " + describe_end(wait_status));
  // Not shown: the output could contain a secret.
  if (WEXITSTATUS(wait_status) != 0) {
    return failure(
        fmt::format("the program ended with exit code {}; run it by hand as the daemon's "
                    "user to see why",
                    WEXITSTATUS(wait_status)));
  }
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
  // Without standard error: see the class.
  ECHOLINE_ASSIGN(const pid_t pid, spawn({.words = call.arguments,
                                          .environment = environment_of(call),
                                          .files = {{.from = input.get(), .to = STDOUT_FILENO}}}));
  return std::unique_ptr<ChildProcess>(new ChildProcess(pid, std::move(output), call.timeout_ns));
}

ChildProcess::ChildProcess(pid_t pid, UniqueFd output, std::uint64_t timeout_ns)
    : pid_(pid),
      output_(std::move(output)),
      timeout_ns_(timeout_ns),
      deadline_ns_(monotonic_ns() + timeout_ns) {}

ChildProcess::~ChildProcess() {
  // -1: it was waited for, so its number may belong to another process.
  if (pid_ >= 0) kill_and_wait(pid_);
}

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
