#include "attach/connector.h"

#include <algorithm>
#include <utility>

namespace echoline::client {
namespace {

// Between two attempts.
constexpr std::uint64_t kRetryNs = 50'000'000;
// How long a first attach retries refusals that may pass.
constexpr std::uint64_t kBusyNs = 2'000'000'000;
// A daemon that opens the stream says so every second. After this time without a word it hangs.
constexpr std::uint64_t kSilenceNs = 15'000'000'000;

// Refusals that usually pass within a second: the predecessor's connection with the same rank is
// not closed yet, or too many trainers connect at the same time.
bool is_short_lived(const Error& error) {
  return error.code() == ECHOLINE_ALREADY_EXISTS || error.code() == ECHOLINE_UNAVAILABLE;
}

}  // namespace

void Connector::start(AttachOptions options, std::uint64_t deadline_ns, bool persistent) {
  options_ = std::move(options);
  deadline_ns_ = deadline_ns;
  persistent_ = persistent;
  retry_at_ns_ = busy_until_ns_ = 0;
  door_.reset();
  last_refusal_ = {};
  progress_.clear();
  refused_by_daemon_ = false;
}

Error Connector::no_answer_yet() const {
  return {ECHOLINE_TIMEOUT, progress_.empty() ? "the daemon has not answered yet" : progress_};
}

void Connector::note_progress(std::uint64_t now_ns) {
  std::optional<std::string> progress = door_->take_progress();
  if (!progress) return;
  progress_ = "the stream is being opened: " + *std::move(progress);
  // An index pass takes as long as it takes; Ctrl-C and the caller's own time limits end the wait.
  deadline_ns_ = std::max(deadline_ns_, now_ns + kSilenceNs);
}

Error Connector::deadline_error() const {
  std::string why = last_refusal_.ok() ? "" : ": " + last_refusal_.text();
  if (!progress_.empty()) why = "; its last word was: " + progress_;
  // UNAVAILABLE: a daemon that is about to start or stop.
  if (persistent_ && refused_by_daemon_ && last_refusal_.code() != ECHOLINE_UNAVAILABLE) {
    return {last_refusal_.code(),
            "the daemon had no place for this trainer within the reattach time" + why};
  }
  if (persistent_) {
    return {ECHOLINE_DAEMON_GONE,
            "the daemon went away and didn't come back within the reattach time" + why};
  }
  return {ECHOLINE_DEADLINE_EXCEEDED, "the daemon at " + runtime_dir_ +
                                          " took the request to attach, but didn't answer in time" +
                                          why};
}

bool Connector::may_succeed_later(const Error& error) const {
  switch (error.code()) {
    case ECHOLINE_INVALID_ARGUMENT:
    case ECHOLINE_FAILED_PRECONDITION:
    case ECHOLINE_PERMISSION_DENIED:
    case ECHOLINE_UNIMPLEMENTED:
    case ECHOLINE_VERSION_MISMATCH:
      return false;
    case ECHOLINE_ALREADY_EXISTS:
      return true;
    default:
      return persistent_;
  }
}

Error Connector::retry_or_fail(const Error& error, std::uint64_t now_ns) {
  // The connection of a refused request is of no more use.
  door_.reset();
  progress_.clear();
  // A first attach reports a missing daemon at once, and retries short-lived refusals for 2 s.
  if (is_short_lived(error) && !persistent_) {
    if (busy_until_ns_ == 0) busy_until_ns_ = now_ns + kBusyNs;
    if (now_ns >= busy_until_ns_) return error;
  } else if (!may_succeed_later(error)) {
    return error;
  }
  last_refusal_ = error;
  retry_at_ns_ = now_ns + kRetryNs;
  return no_answer_yet();
}

Error Connector::connect(std::uint64_t now_ns) {
  std::unique_ptr<DoorClient> made;
  if (Error e = DoorClient::connect(runtime_dir_, options_, made); !e.ok()) {
    // No daemon answered, so an earlier refusal does not explain the failure.
    refused_by_daemon_ = false;
    return retry_or_fail(e, now_ns);
  }
  door_ = std::move(made);
  return no_answer_yet();
}

bool Connector::take_answer(std::uint64_t now_ns, AttachGrant& grant, Error& answer) {
  if (door_ == nullptr) return false;
  const bool answered = door_->poll_answer(grant, answer);
  note_progress(now_ns);
  return answered;
}

Error Connector::poll(std::uint64_t now_ns, Connection& connection) {
  AttachGrant grant;
  Error answer;
  bool answered = take_answer(now_ns, grant, answer);
  // After what the daemon has said: a trainer may not have listened for a while.
  if (!answered && now_ns >= deadline_ns_) {
    door_.reset();
    return deadline_error();
  }
  if (door_ == nullptr) {
    // The pause between two attempts.
    if (now_ns < retry_at_ns_) return no_answer_yet();
    if (Error e = connect(now_ns); door_ == nullptr) return e;
    answered = take_answer(now_ns, grant, answer);
  }
  if (!answered) return no_answer_yet();
  if (!answer.ok()) {
    refused_by_daemon_ = true;
    return retry_or_fail(answer, now_ns);
  }
  Error e = Attachment::open(grant, connection.attachment);
  // Also after an error: it closes with the connection.
  connection.door = std::move(door_);
  return e;
}

}  // namespace echoline::client
