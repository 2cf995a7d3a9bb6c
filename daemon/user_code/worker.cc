#include "user_code/worker.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/spawn.h"
#include "user_code/environment.h"
#include "user_code/launch.h"

namespace echoline::user_code {
namespace {

constexpr std::size_t kTextBytes = 4 << 10;  // read at a time
constexpr std::size_t kWrittenBytesMax = 16 << 10;
// How often a wait looks whether it is still wanted.
constexpr std::uint64_t kLookNs = 100'000'000;
// A call that nobody waits for gets this time to end, so that its worker can be kept.
constexpr std::uint64_t kStopGraceNs = 500'000'000;

const char* form_of(const decode::FieldType& type) {
  if (type.ragged) return "ragged";
  if (type.fixed) return "fixed";
  return type.image ? "picture" : "rank";
}

nlohmann::json described(const std::vector<decode::FieldType>& types) {
  nlohmann::json fields = nlohmann::json::array();
  for (const decode::FieldType& type : types) {
    nlohmann::json& field = fields.emplace_back();
    field["name"] = type.name;
    field["dtype"] = type.dtype;
    field["shape"] = std::vector<std::uint32_t>(type.shape.span().begin(), type.shape.span().end());
    field["form"] = form_of(type);
  }
  return fields;
}

std::string settings_text(const Function& function) {
  nlohmann::json settings;
  settings["file"] = function.file;
  settings["settings"] = function.settings;
  settings["source"] = function.source;
  settings["function"] = function.name;
  settings["data_set"] = function.is_data_set;
  settings["names"] = function.names;
  settings["batched"] = function.is_batched;
  settings["step"] = function.step;
  settings["inputs"] = described(function.inputs);
  settings["outputs"] = described(function.outputs);
  settings["memory_bytes"] = function.memory_bytes;
  settings["sample_bytes"] = function.sample_bytes;
  // A file name can have any bytes.
  return settings.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// Both ends of a pair of descriptors.
struct Ends {
  UniqueFd own, other;
};

Result<Ends> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno_status(errno, "pipe");
  return Ends{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Result<Ends> make_sockets() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return errno_status(errno, "socketpair");
  return Ends{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// Readable when the process has ended, even while its children hold its other descriptors.
UniqueFd process_file(pid_t pid) {
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

}  // namespace

Result<std::unique_ptr<Worker>> Worker::start(const Function& function) {
  ECHOLINE_ASSIGN(Area input,
                  Area::create("echoline-code-in", function.sample_bytes, Area::Writer::kDaemon));
  ECHOLINE_ASSIGN(Area output,
                  Area::create("echoline-code-out", function.sample_bytes, Area::Writer::kWorker));
  ECHOLINE_ASSIGN(const Launch launch, launch_of(function));
  ECHOLINE_ASSIGN(const UniqueFd settings,
                  text_in_memory("echoline-step", settings_text(function)));
  ECHOLINE_ASSIGN(Ends sockets, make_sockets());
  ECHOLINE_ASSIGN(Ends text, make_pipe());
  ECHOLINE_ASSIGN(Ends life, make_pipe());
  ::fcntl(text.own.get(), F_SETFL, O_NONBLOCK);
  std::vector<std::string> environment = worker_environment(function.variables);
  std::vector<std::string> words;
  if (function.account) words = words_to_become(*function.account, environment);
  words.insert(words.end(), launch.words.begin(), launch.words.end());
  ECHOLINE_ASSIGN(const pid_t pid, spawn({.words = std::move(words),
                                          .environment = std::move(environment),
                                          .files = {{text.other.get(), shm::kWorkerText},
                                                    {text.other.get(), shm::kWorkerErrors},
                                                    {sockets.other.get(), shm::kWorkerSocket},
                                                    {input.fd(), shm::kWorkerInput},
                                                    {output.fd(), shm::kWorkerOutput},
                                                    {launch.code.get(), shm::kWorkerCode},
                                                    {life.own.get(), shm::kWorkerLife},
                                                    {settings.get(), shm::kWorkerSettings}}}));
  // The daemon keeps the writing end of `life`: the kernel closes it when the daemon ends.
  Files files{std::move(sockets.own), std::move(text.own), std::move(life.other),
              process_file(pid)};
  return std::unique_ptr<Worker>(
      new Worker(pid, function, std::move(files), std::move(input), std::move(output)));
}

Worker::~Worker() {
  // Its children can outlive it, so the group is killed in any case; its number is not reused while
  // one of them exists.
  if (pid_ >= 0) kill_and_wait(pid_);
}

bool Worker::is_alive(int wait_ms) const {
  pollfd file{files_.process.get(), POLLIN, 0};
  return ::poll(&file, 1, wait_ms) == 0;
}

void Worker::let_end() { ::shutdown(files_.socket.get(), SHUT_WR); }

const Outcome& Worker::await_loaded(const Patience& patience) {
  if (!has_loaded_) {
    loaded_ = await_reply(patience);
    has_loaded_ = true;
    const ReplyKind kind = loaded_.reply.kind;
    if (loaded_.ended == Ended::kReply && kind != ReplyKind::kReady &&
        kind != ReplyKind::kNotLoaded)
      loaded_ = {.ended = Ended::kBroken, .reason = "sent a wrong first message"};
  }
  return loaded_;
}

Result<Outcome> Worker::call(std::span<const SampleCall> samples, const Patience& patience) {
  ECHOLINE_ASSIGN(const Layout layout,
                  lay_out(samples, function_.inputs, function_.is_batched, input_.size()));
  ECHOLINE_ASSIGN(const std::span<std::byte> area, input_.reserve(layout.bytes));
  for (std::size_t i = 0; i < layout.places.size(); ++i) {
    const std::size_t inputs = function_.inputs.size();
    const std::span<const std::byte> content = samples[i / inputs].arguments[i % inputs]->content();
    std::copy(content.begin(), content.end(), area.begin() + layout.places[i].offset);
  }
  const std::vector<std::byte> message =
      encode_call(++sequence_, function_.step, samples, layout.places);
  if (::send(files_.socket.get(), message.data(), message.size(), MSG_NOSIGNAL) < 0) return died();
  Outcome outcome = await_reply(patience);
  const bool other = outcome.reply.sequence != sequence_ ||
                     outcome.reply.kind == ReplyKind::kReady ||
                     outcome.reply.kind == ReplyKind::kNotLoaded;
  if (outcome.ended == Ended::kReply && other)
    return Outcome{.ended = Ended::kBroken, .reason = "answered another call"};
  return outcome;
}

Outcome Worker::await_reply(const Patience& patience) {
  std::uint64_t deadline_ns = patience.deadline_ns;
  bool stopped = false;
  std::array<pollfd, 3> files{{{files_.socket.get(), POLLIN, 0},
                               {files_.text.get(), POLLIN, 0},
                               {files_.process.get(), POLLIN, 0}}};
  while (true) {
    const std::uint64_t now_ns = monotonic_ns();
    if (!stopped && patience.stopping != nullptr && patience.stopping->load()) {
      stopped = true;
      deadline_ns = std::min(deadline_ns, now_ns + kStopGraceNs);
    }
    if (now_ns >= deadline_ns)
      return {.ended = stopped ? Ended::kStopped : Ended::kTimedOut,
              .reason = "did not answer in time"};
    const std::uint64_t wait_ns = std::min(deadline_ns - now_ns, kLookNs);
    ::poll(files.data(), files.size(), static_cast<int>(wait_ns / 1'000'000) + 1);
    if (files[1].revents != 0) read_text();
    // A closed pipe is always readable: not asked again.
    if ((files[1].revents & (POLLHUP | POLLERR)) != 0 && (files[1].revents & POLLIN) == 0)
      files[1].fd = -1;
    Outcome outcome;
    // Before its end: the process may have answered first.
    if (files[0].revents != 0 && receive(outcome)) return outcome;
    if (files[2].revents != 0) return died();
  }
}

bool Worker::receive(Outcome& outcome) {
  const ssize_t count = ::recv(files_.socket.get(), message_.data(), message_.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (count <= 0) {
    outcome = died();
    return true;
  }
  Result<Reply> reply = decode_reply(std::span(message_).first(static_cast<std::size_t>(count)));
  if (reply.ok()) {
    outcome.reply = std::move(*reply);
  } else {
    outcome = {.ended = Ended::kBroken, .reason = "sent " + reply.status().message()};
  }
  return true;
}

bool Worker::read_text() {
  char bytes[kTextBytes];
  // Not until the pipe is empty: it may be filled as fast as it is read.
  const ssize_t count = ::read(files_.text.get(), bytes, sizeof bytes);
  if (count <= 0) return false;
  written_.append(bytes, static_cast<std::size_t>(count));
  if (written_.size() > kWrittenBytesMax) written_.erase(0, written_.size() - kWrittenBytesMax);
  return true;
}

Outcome Worker::died() {
  // Its last words, as far as they matter: its children may go on writing.
  for (std::size_t left = kWrittenBytesMax / kTextBytes; left > 0 && read_text(); --left) {
  }
  int status = 0;
  // Its end closes the socket a moment before it can be waited for.
  constexpr int kEndPollMs = 200;
  pollfd file{files_.process.get(), POLLIN, 0};
  ::poll(&file, 1, kEndPollMs);
  if (file.revents == 0) return {.ended = Ended::kDied, .reason = "closed its connection"};
  // Its children first: until it was waited for, the number of their group cannot be reused.
  ::kill(-pid_, SIGKILL);
  if (::waitpid(std::exchange(pid_, -1), &status, 0) < 0) status = 0;
  return {.ended = Ended::kDied, .reason = describe_end(status)};
}

}  // namespace echoline::user_code
