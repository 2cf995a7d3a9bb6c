// The helper is forked before anything else is begun. It has a session of its own, so that signals
// for the terminal or the group of the command do not reach it.
#include "cli/private_daemon.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "base/bounded_file.h"
#include "base/clock.h"
#include "base/spawn.h"
#include "cli/connectivity_check.h"

namespace echoline::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kPollMs = 50;
// A daemon ends within a second; Python code of the user may take longer.
constexpr std::uint64_t kStopNs = 10'000'000'000;
constexpr std::size_t kLogBytesMax = 64 << 20;
constexpr std::size_t kLastWordsBytes = 2000;

std::string folder_pattern() {
  const char* const temporary = ::getenv("TMPDIR");
  const std::string base = temporary == nullptr || *temporary == '\0' ? "/tmp" : temporary;
  return base + "/echoline-analyze-XXXXXX";
}

// That of ECHOLINE_DAEMON, as for the Python package; else the one next to this program, or in
// PATH.
std::string daemon_program() {
  if (const char* const given = ::getenv("ECHOLINE_DAEMON")) return given;
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error);
  const fs::path next_to = own.parent_path() / "echolined";
  return !error && fs::exists(next_to, error) ? next_to.string() : "echolined";
}

// JSON is YAML, too. Its values that depend on the machine are written as they are, without units.
std::string config_text(const std::string& folder, const v1::Daemon& settings) {
  const nlohmann::json daemon = {{"runtime_dir", folder},
                                 {"state_dir", folder + "/state"},
                                 {"metrics", "off"},
                                 {"memory", settings.memory()},
                                 {"workers", settings.workers()},
                                 {"seek_index", settings.seek_index()}};
  return nlohmann::json{{"daemon", daemon}}.dump() + "\n";
}

// A state folder whose indexes are those of the user; all else in it is private.
Status make_state_folder(const std::string& folder, const std::string& users) {
  std::error_code error;
  fs::create_directory(folder + "/state", error);
  if (error) return errno_status(error.value(), folder);
  const fs::path indexes = fs::absolute(users, error) / "indexes";
  fs::create_directories(indexes, error);
  // Without the user's folder, the index is made in the private one.
  if (!error) fs::create_directory_symlink(indexes, folder + "/state/indexes", error);
  return {};
}

Status fill_folder(const std::string& folder, const v1::Daemon& settings) {
  ECHOLINE_TRY(make_state_folder(folder, settings.state_dir()));
  std::ofstream file(folder + "/echoline.yaml");
  file << config_text(folder, settings);
  return file.flush() ? Status() : errno_status(errno, folder);
}

Result<pid_t> spawn_daemon(const std::string& folder) {
  const UniqueFd log(
      ::open((folder + "/daemon.log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!log) return errno_status(errno, folder);
  Program program{.words = {daemon_program(), "--config", folder + "/echoline.yaml"},
                  .environment = {},
                  .files = {{log.get(), STDOUT_FILENO}, {log.get(), STDERR_FILENO}}};
  for (char** line = environ; *line != nullptr; ++line) program.environment.emplace_back(*line);
  return spawn(program);
}

bool is_closed(int fd, int wait_ms) {
  pollfd entry{fd, POLLIN, 0};
  // The other end never writes: whatever happens is its end.
  return ::poll(&entry, 1, wait_ms) > 0;
}

bool has_exited(pid_t pid) { return ::waitpid(pid, nullptr, WNOHANG) != 0; }

void stop(pid_t daemon) {
  ::kill(daemon, SIGTERM);
  const std::uint64_t give_up_ns = monotonic_ns() + kStopNs;
  while (monotonic_ns() < give_up_ns) {
    if (has_exited(daemon)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill_and_wait(daemon);
}

// The life of the helper: ends the daemon and removes its folder when the command has ended.
[[noreturn]] void help(const std::string& folder, int lifeline, UniqueFd ended) {
  ::setsid();
  // A reader of the command's output must not wait for the helper.
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null.get(), fd);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_IGN);
  const Result<pid_t> daemon = spawn_daemon(folder);
  bool running = daemon.ok();
  while (!is_closed(lifeline, kPollMs)) {
    running = running && !has_exited(*daemon);
    if (!running) ended.reset();
  }
  if (running) stop(*daemon);
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  ::_exit(0);
}

}  // namespace

Result<PrivateDaemon> PrivateDaemon::start(const v1::Daemon& settings) {
  std::string folder = folder_pattern();
  if (::mkdtemp(folder.data()) == nullptr) return errno_status(errno, folder);
  std::array<int, 2> life{-1, -1}, end{-1, -1};
  Status status = fill_folder(folder, settings);
  if (status.ok() && (::pipe2(life.data(), O_CLOEXEC) != 0 || ::pipe2(end.data(), O_CLOEXEC) != 0))
    status = errno_status(errno, "pipe");
  UniqueFd life_read(life[0]), life_write(life[1]), end_read(end[0]), end_write(end[1]);
  const pid_t helper = status.ok() ? ::fork() : -1;
  if (helper == 0) {
    life_write.reset();
    end_read.reset();
    help(folder, life_read.get(), std::move(end_write));
  }
  if (status.ok() && helper < 0) status = errno_status(errno, "fork");
  if (status.ok()) {
    return PrivateDaemon(std::move(folder), helper, std::move(life_write), std::move(end_read));
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return status;
}

PrivateDaemon::PrivateDaemon(PrivateDaemon&& other) noexcept
    : folder_(std::move(other.folder_)),
      helper_(std::exchange(other.helper_, -1)),
      lifeline_(std::move(other.lifeline_)),
      ended_(std::move(other.ended_)) {}

PrivateDaemon::~PrivateDaemon() {
  if (helper_ < 0) return;
  lifeline_.reset();
  while (::waitpid(helper_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool PrivateDaemon::has_ended() const { return is_closed(ended_.get(), 0); }

Status PrivateDaemon::await_answer(std::chrono::milliseconds patience) const {
  const std::uint64_t give_up_ns =
      monotonic_ns() + static_cast<std::uint64_t>(std::chrono::nanoseconds(patience).count());
  while (!check_socket_connection(folder_ + "/control.sock").ok()) {
    if (has_ended()) return Status(Code::kUnavailable, "the private daemon ended: " + last_words());
    if (monotonic_ns() >= give_up_ns) {
      return Status(Code::kUnavailable, "the private daemon did not start: " + last_words());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return {};
}

std::string PrivateDaemon::last_words() const {
  const Result<std::string> log = read_bounded_file(folder_ + "/daemon.log", kLogBytesMax);
  if (!log.ok()) return log.status().message();
  const std::size_t from = log->size() - std::min(log->size(), kLastWordsBytes);
  const std::string end = log->substr(from);
  return end.empty() ? "its program is missing or wrote nothing" : end.substr(0, end.size() - 1);
}

}  // namespace echoline::cli
