// The loader's connection to the daemon: attaching, notices, and the end of the connection.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "attach/connector.h"
#include "system/error.h"

namespace echoline::client {

// Either connected, or attaching, or closed. Never blocks. One thread at a time (the loader's
// lock).
class DaemonLink {
 public:
  enum class Event {
    kNone,
    kGone,   // the daemon closed the connection without a reason: it died or was stopped
    kMoved,  // the daemon moved this trainer to another ring: attach again
  };

  explicit DaemonLink(std::string runtime_dir) : connector_(std::move(runtime_dir)) {}

  // Starts to attach; see Connector::start.
  void attach(AttachOptions options, std::uint64_t deadline_ns, bool persistent) {
    connector_.start(std::move(options), deadline_ns, persistent);
  }
  // TIMEOUT: not attached yet. OK: `connection` is filled; pass its door to set_connected().
  Error poll_attach(Connection& connection);
  void set_connected(std::shared_ptr<DoorClient> door);
  bool connected() const { return door_ != nullptr; }
  // The socket on which something may arrive next, or null. To sleep on it without the lock.
  std::shared_ptr<DoorClient> door_to_wait_on() const;

  // At most every 50 ms: whether it is time for poll_notices() although batches are ready.
  bool poll_is_due();
  // Reads what the daemon sent. After kGone the link is closed.
  Event poll_notices();
  // Why no batch will ever follow, or OK. `writer_failed`: the ring is in the state kWriterFailed.
  Error reason_of_end(bool writer_failed);

  // Closes the connection: the daemon takes back the slots.
  void close() { door_.reset(); }
  // Only while connected. Closes the link, but keeps the socket open until the process ends: the
  // daemon must not reuse the slots.
  void close_but_keep_slots();
  void stop_attaching() { connector_.stop(); }

  // The oldest text about other trainers, or about a stream that is being opened, that was not
  // taken yet.
  std::optional<std::string> take_news();

 private:
  // While the stream is being opened: now and then a text about it.
  void note_progress(std::uint64_t now_ns);
  void add_news(std::string text);

  Connector connector_;
  std::shared_ptr<DoorClient> door_;  // null unless connected
  std::deque<std::string> news_;
  std::uint64_t polled_ns_ = 0;
  std::uint64_t progress_due_ns_ = 0;   // the next text about an opening; 0: none is awaited
  std::uint64_t failing_since_ns_ = 0;  // when kWriterFailed was seen first; 0: not seen
};

}  // namespace echoline::client
