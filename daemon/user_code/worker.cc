#include "user_code/worker.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/clock.h"

namespace echoline::user_code {
namespace {

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

std::string settings_text(const Function& function, std::size_t channels) {
  nlohmann::json settings;
  settings["version"] = ECHOLINE_PACKAGE_VERSION;
  settings["file"] = function.file;
  settings["settings"] = function.settings;
  settings["source"] = function.source;
  settings["function"] = function.name;
  settings["data_set"] = function.is_data_set;
  settings["names"] = function.names;
  settings["batched"] = function.is_batched;
  settings["threads"] = function.threads;
  settings["channels"] = channels;
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

Result<Ends> make_sockets() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return errno_status(errno, "socketpair");
  return Ends{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// The number of a channel's first descriptor in the process.
int first_file(std::size_t channel) {
  if (channel == 0) return shm::kWorkerSocket;
  return shm::kWorkerMoreChannels + static_cast<int>(channel - 1) * shm::kWorkerChannelFiles;
}

}  // namespace

Result<std::unique_ptr<Worker>> Worker::start(const Function& function) {
  ECHOLINE_ASSIGN(std::vector<std::unique_ptr<Worker>> workers, start_threads(function, 1));
  return std::move(workers.front());
}

Result<std::vector<std::unique_ptr<Worker>>> Worker::start_threads(const Function& function,
                                                                   std::size_t count) {
  std::vector<Channel> channels;
  std::vector<UniqueFd> sockets;  // the other ends
  std::vector<SpawnedFile> files;
  for (std::size_t i = 0; i < count; ++i) {
    ECHOLINE_ASSIGN(Area input,
                    Area::create("echoline-code-in", function.sample_bytes, Area::Writer::kDaemon));
    ECHOLINE_ASSIGN(Area output, Area::create("echoline-code-out", function.sample_bytes,
                                              Area::Writer::kWorker));
    ECHOLINE_ASSIGN(Ends ends, make_sockets());
    const int first = first_file(i);
    files.push_back({ends.other.get(), first});
    files.push_back({input.fd(), first + 1});
    files.push_back({output.fd(), first + 2});
    channels.push_back({std::move(ends.own), std::move(input), std::move(output)});
    sockets.push_back(std::move(ends.other));
  }
  ECHOLINE_ASSIGN(const std::shared_ptr<Process> process,
                  Process::start(function, std::move(files), settings_text(function, count)));
  std::vector<std::unique_ptr<Worker>> workers;
  // The process says on the first channel when it has loaded the function.
  for (std::size_t i = count; i-- > 0;)
    workers.emplace_back(new Worker(function, process, std::move(channels[i])));
  return workers;
}

void Worker::let_end() { ::shutdown(channel_.socket.get(), SHUT_WR); }

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

void Worker::loaded_as(const Outcome& outcome) {
  loaded_ = outcome;
  has_loaded_ = true;
}

Result<Outcome> Worker::call(std::span<const SampleCall> samples, const Patience& patience) {
  ECHOLINE_ASSIGN(const Layout layout,
                  lay_out(samples, function_.inputs, function_.is_batched, channel_.input.size()));
  ECHOLINE_ASSIGN(const std::span<std::byte> area, channel_.input.reserve(layout.bytes));
  for (std::size_t i = 0; i < layout.places.size(); ++i) {
    const std::size_t inputs = function_.inputs.size();
    const std::span<const std::byte> content = samples[i / inputs].arguments[i % inputs]->content();
    std::copy(content.begin(), content.end(), area.begin() + layout.places[i].offset);
  }
  const std::vector<std::byte> message =
      encode_call(++sequence_, function_.step, samples, layout.places);
  if (::send(channel_.socket.get(), message.data(), message.size(), MSG_NOSIGNAL) < 0)
    return died();
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
  std::array<pollfd, 3> files{{{channel_.socket.get(), POLLIN, 0},
                               {process_->text_file(), POLLIN, 0},
                               {process_->end_file(), POLLIN, 0}}};
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
    if (files[1].revents != 0) process_->read_text();
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
  const ssize_t count =
      ::recv(channel_.socket.get(), message_.data(), message_.size(), MSG_DONTWAIT);
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

Outcome Worker::died() { return {.ended = Ended::kDied, .reason = process_->describe_end()}; }

}  // namespace echoline::user_code
