#include "user_code/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "echoline/shm/worker_messages.h"
#include "user_code/area.h"
#include "user_code/environment.h"
#include "user_code/launch.h"

namespace echoline::user_code {
namespace {

constexpr std::size_t kTextBytes = 4 << 10;  // read at a time
constexpr std::size_t kWrittenBytesMax = 16 << 10;

struct Pipe {
  UniqueFd out, in;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno_status(errno, "pipe");
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// Readable when the process has ended, even while its children hold its other descriptors.
UniqueFd process_file(pid_t pid) {
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

}  // namespace

Result<std::shared_ptr<Process>> Process::start(const Function& function,
                                                std::vector<SpawnedFile> channels,
                                                const std::string& settings) {
  ECHOLINE_ASSIGN(const Launch launch, launch_of(function));
  ECHOLINE_ASSIGN(const UniqueFd settings_file, text_in_memory("echoline-step", settings));
  ECHOLINE_ASSIGN(Pipe text, make_pipe());
  ECHOLINE_ASSIGN(Pipe life, make_pipe());
  ::fcntl(text.out.get(), F_SETFL, O_NONBLOCK);
  std::vector<std::string> environment = worker_environment(function.variables);
  std::vector<std::string> words;
  if (function.account) words = words_to_become(*function.account, environment);
  words.insert(words.end(), launch.words.begin(), launch.words.end());
  std::vector<SpawnedFile> files = std::move(channels);
  for (const SpawnedFile& file : {SpawnedFile{text.in.get(), shm::kWorkerText},
                                  SpawnedFile{text.in.get(), shm::kWorkerErrors},
                                  SpawnedFile{launch.code.get(), shm::kWorkerCode},
                                  SpawnedFile{life.out.get(), shm::kWorkerLife},
                                  SpawnedFile{settings_file.get(), shm::kWorkerSettings}})
    files.push_back(file);
  ECHOLINE_ASSIGN(const pid_t pid, spawn({.words = std::move(words),
                                          .environment = std::move(environment),
                                          .files = std::move(files)}));
  // The daemon keeps the writing end of `life`: the kernel closes it when the daemon ends.
  return std::shared_ptr<Process>(new Process(pid, std::move(text.out), std::move(life.in)));
}

Process::Process(pid_t pid, UniqueFd text, UniqueFd life)
    : text_(std::move(text)), life_(std::move(life)), end_(process_file(pid)), pid_(pid) {}

Process::~Process() {
  const MutexLock lock(mutex_);
  // Its children can outlive it, so the group is killed in any case; its number is not reused while
  // one of them exists.
  if (pid_ >= 0) kill_and_wait(pid_);
}

bool Process::is_alive(int wait_ms) const {
  pollfd file{end_.get(), POLLIN, 0};
  return ::poll(&file, 1, wait_ms) == 0;
}

void Process::kill() {
  const MutexLock lock(mutex_);
  if (pid_ < 0) return;
  is_killed_ = true;
  ::kill(-pid_, SIGKILL);
}

std::string Process::describe_end() {
  // Its last words, as far as they matter: its children may go on writing.
  for (std::size_t left = kWrittenBytesMax / kTextBytes; left > 0 && read_text(); --left) {
  }
  // Its end closes its connections a moment before it can be waited for.
  constexpr int kEndPollMs = 200;
  if (is_alive(kEndPollMs)) return "closed its connection";
  const MutexLock lock(mutex_);
  if (pid_ < 0) return how_;
  // Its children first: until it was waited for, the number of their group cannot be reused.
  ::kill(-pid_, SIGKILL);
  int status = 0;
  if (::waitpid(std::exchange(pid_, -1), &status, 0) < 0) status = 0;
  how_ = is_killed_ ? "was ended because of another call in it" : echoline::describe_end(status);
  return how_;
}

bool Process::read_text() {
  const MutexLock lock(mutex_);
  char bytes[kTextBytes];
  // Not until the pipe is empty: it may be filled as fast as it is read.
  const ssize_t count = ::read(text_.get(), bytes, sizeof bytes);
  if (count <= 0) return false;
  written_.append(bytes, static_cast<std::size_t>(count));
  if (written_.size() > kWrittenBytesMax) written_.erase(0, written_.size() - kWrittenBytesMax);
  return true;
}

std::string Process::take_written() {
  const MutexLock lock(mutex_);
  return std::exchange(written_, {});
}

}  // namespace echoline::user_code
