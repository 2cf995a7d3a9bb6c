// Attaches to the daemon, at start and after it went away: connects, waits for the answer, maps the
// ring, and retries.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "attach/attach_options.h"
#include "attach/door_client.h"
#include "mapped_ring/attachment.h"

namespace echoline::client {

struct Connection {
  std::shared_ptr<Attachment> attachment;
  std::shared_ptr<DoorClient> door;
};

// A state machine that never blocks. One thread at a time (the loader's lock).
class Connector {
 public:
  explicit Connector(std::string runtime_dir) : runtime_dir_(std::move(runtime_dir)) {}

  // Begins an attempt; poll() advances it. `persistent`: while no daemon answers, or it is not
  // ready, retry until the deadline (CLOCK_MONOTONIC). The deadline moves on while the daemon says
  // that it is opening the stream.
  void start(AttachOptions options, std::uint64_t deadline_ns, bool persistent);
  void stop() { door_.reset(); }
  // TIMEOUT: not finished, call again; the text says what the daemon is doing. OK: `connection` is
  // filled. Else the attempt has failed.
  Error poll(std::uint64_t now_ns, Connection& connection);
  // How far the opening of the stream is, as the daemon said last; empty if it said nothing.
  const std::string& progress() const { return progress_; }
  // The connection on which an answer is awaited, or null. Sleep on it without the loader's lock.
  std::shared_ptr<DoorClient> door() const { return door_; }

 private:
  Error deadline_error() const;
  Error no_answer_yet() const;
  // Takes what the daemon said about a stream that it is opening.
  void note_progress(std::uint64_t now_ns);
  // Whether the daemon has answered the request.
  bool take_answer(std::uint64_t now_ns, AttachGrant& grant, Error& answer);
  // Whether the daemon may grant the same request later.
  bool may_succeed_later(const Error& error) const;
  Error connect(std::uint64_t now_ns);
  // Schedules the next attempt (TIMEOUT) or returns `error`.
  Error retry_or_fail(const Error& error, std::uint64_t now_ns);

  std::string runtime_dir_;
  AttachOptions options_;
  std::shared_ptr<DoorClient> door_;  // connected, not answered yet
  std::uint64_t deadline_ns_ = 0;
  std::uint64_t retry_at_ns_ = 0;
  std::uint64_t busy_until_ns_ = 0;  // end of the retries of short-lived refusals; 0: none yet
  bool persistent_ = false;
  Error last_refusal_;
  std::string progress_;            // of the opening of the stream, while an answer is awaited
  bool refused_by_daemon_ = false;  // last_refusal_ is an answer of a daemon, not a failed connect
};

}  // namespace echoline::client
