#include "connector.h"

#include <utility>

namespace echoline::client {
namespace {

constexpr std::uint64_t kRetryNs = 50'000'000;
constexpr std::uint64_t kBusyNs = 2'000'000'000;

// What is so for a moment: a predecessor still holds the place, or a crowd is at the door.
bool is_busy(const Error& error) {
  return error.code() == ECHOLINE_ALREADY_EXISTS || error.code() == ECHOLINE_UNAVAILABLE;
}

}  // namespace

void Connector::start(AttachWish wish, std::uint64_t deadline_ns, bool persistent) {
  wish_ = std::move(wish);
  deadline_ns_ = deadline_ns;
  persistent_ = persistent;
  running_ = true;
  retry_at_ns_ = busy_until_ns_ = 0;
  door_.reset();
  last_refusal_ = {};
}

Error Connector::late() const {
  const std::string why = last_refusal_.ok() ? "" : ": " + last_refusal_.text();
  const bool answers = !last_refusal_.ok() && last_refusal_.code() != ECHOLINE_UNAVAILABLE;
  if (persistent_ && answers) {
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

// Whether the same request may be granted later.
bool Connector::may_pass(const Error& error) const {
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

Error Connector::retry(const Error& error, std::uint64_t now_ns) {
  door_.reset();
  if (is_busy(error) && !persistent_) {
    if (busy_until_ns_ == 0) busy_until_ns_ = now_ns + kBusyNs;
    if (now_ns >= busy_until_ns_) return running_ = false, error;
  } else if (!may_pass(error)) {
    return running_ = false, error;
  }
  last_refusal_ = error;
  retry_at_ns_ = now_ns + kRetryNs;
  return {ECHOLINE_TIMEOUT, "the daemon has not answered yet"};
}

Error Connector::knock(std::uint64_t now_ns) {
  std::unique_ptr<DoorClient> made;
  if (Error e = DoorClient::knock(runtime_dir_, wish_, made); !e.ok()) return retry(e, now_ns);
  door_ = std::move(made);
  return {ECHOLINE_TIMEOUT, "the daemon has not answered yet"};
}

Error Connector::pump(std::uint64_t now_ns, Connection& connection) {
  if (now_ns >= deadline_ns_) {
    door_.reset();
    running_ = false;
    return late();
  }
  if (door_ == nullptr) {
    if (now_ns < retry_at_ns_) return {ECHOLINE_TIMEOUT, "the daemon has not answered yet"};
    if (Error e = knock(now_ns); door_ == nullptr) return e;
  }
  Grant grant;
  Error answer;
  if (!door_->poll_answer(grant, answer)) {
    return {ECHOLINE_TIMEOUT, "the daemon has not answered yet"};
  }
  if (!answer.ok()) return retry(answer, now_ns);
  running_ = false;
  Error e = Attachment::open(grant, connection.attachment);
  connection.door = std::move(door_);
  return e;
}

}  // namespace echoline::client
