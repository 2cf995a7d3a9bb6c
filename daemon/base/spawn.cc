// posix_spawn() does not copy the daemon's page tables: it costs the same however much memory is
// mapped.
#include "base/spawn.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/unique_fd.h"

namespace echoline {
namespace {

// Above all numbers that a program gets, so that no copy replaces the source of a later one.
constexpr int kCopiesBegin = 64;
constexpr int kEndPollsMax = 200;

// Attributes and descriptors of the new program.
class SpawnSettings {
 public:
  SpawnSettings() {
    ::posix_spawn_file_actions_init(&actions_);
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

  Status take(const std::vector<SpawnedFile>& files) {
    // A program that asks a question finds the end of its input.
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int last = STDERR_FILENO;
    for (const SpawnedFile& file : files) {
      UniqueFd copy(::fcntl(file.from, F_DUPFD_CLOEXEC, kCopiesBegin));
      if (!copy) return errno_status(errno, "copying a descriptor for a program");
      ::posix_spawn_file_actions_adddup2(&actions_, copy.get(), file.to);
      copies_.push_back(std::move(copy));
      last = std::max(last, file.to);
    }
    // Every other descriptor of the daemon, sockets and rings included.
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, last + 1);
    return {};
  }

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
  std::vector<UniqueFd> copies_;
};

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  // execve needs a null pointer at the end.
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Result<pid_t> spawn(const Program& program) {
  SpawnSettings settings;
  ECHOLINE_TRY(settings.take(program.files));
  std::vector<std::string> words = program.words;
  std::vector<std::string> environment = program.environment;
  pid_t pid = -1;
  const int error =
      ::posix_spawnp(&pid, words[0].c_str(), settings.actions(), settings.attributes(),
                     // The vectors live until the call has returned; the program has copies by
                     // then.
                     pointers_to(words).data(), pointers_to(environment).data());
  if (error == 0) return pid;
  return Status(Code::kPermissionDenied,
                fmt::format("the program {} cannot be started: {}", words[0], errno_text(error)));
}

void kill_and_wait(pid_t pid) {
  ::kill(-pid, SIGKILL);
  // The caller may be a thread that others wait for, so the wait has an end.
  for (int i = 0; i < kEndPollsMax && ::waitpid(pid, nullptr, WNOHANG) == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

std::string describe_end(int wait_status) {
  if (WIFSIGNALED(wait_status)) return fmt::format("was ended by signal {}", WTERMSIG(wait_status));
  return fmt::format("ended with exit code {}", WEXITSTATUS(wait_status));
}

}  // namespace echoline
