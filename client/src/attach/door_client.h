// The trainer's end of the attach socket ("door"): connect, send the request, receive the memory,
// and read the daemon's notices.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attach/attach_options.h"
#include "mapped_ring/attach_grant.h"
#include "system/fd_and_mapping.h"

namespace echoline::client {

// One connection. It is open as long as this trainer is attached: when it closes, the daemon takes
// back the trainer's slots. One thread at a time, except wait(). Never blocks except in wait().
class DoorClient {
 public:
  // Connects and sends the request. NOT_FOUND at once if no daemon listens.
  static Error connect(const std::string& runtime_dir, const AttachOptions& options,
                       std::unique_ptr<DoorClient>& door);

  // Keeps the attach socket open until the process ends, after the last owner is gone. Allocates
  // nothing, because it is called when memory is exhausted.
  static void leave_open(std::shared_ptr<DoorClient> door);

  // Whether the answer has arrived. If so, `grant` is filled or `error` is the refusal. If not, the
  // daemon may have said why (take_progress).
  bool poll_answer(AttachGrant& grant, Error& error);
  // The newest text about a stream that is being opened, if one arrived since the last call.
  std::optional<std::string> take_progress() { return std::exchange(progress_, std::nullopt); }
  // Sleeps until the socket is readable, at most timeout_ms. Any thread.
  void wait(int timeout_ms) const;

  // After the answer: reads the daemon's notices. False once the daemon has closed the connection.
  bool poll_alive();
  // Why the daemon ended this attachment or the stream, if it said so.
  const std::optional<Error>& verdict() const { return verdict_; }
  // Whether the daemon moved this trainer to another ring: attach again at the same position.
  bool moved() const { return moved_; }
  // Takes the texts about other trainers that arrived since the last call.
  std::vector<std::string> take_news() { return std::exchange(news_, {}); }

 private:
  // Receives one message of those that come before or as the answer.
  enum class Received { kNothing, kProgress, kAnswer };
  Received receive_answer(AttachGrant& grant, Error& error);
  // Sorts one notice of the daemon: a move, news for people, or a verdict.
  void handle_notice(const shm::Notice& notice);
  // Keeps why the daemon ends this attachment.
  void set_verdict(const shm::Notice& notice, const std::string& text);

  GuardedFd socket_;
  std::optional<Error> verdict_;
  std::optional<std::string> progress_;
  bool gone_ = false;
  bool moved_ = false;
  std::vector<std::string> news_;
  // Only after leave_open(): the object owns itself, and a global list refers to it, so that leak
  // checkers see it.
  std::shared_ptr<DoorClient> self_;
  DoorClient* next_left_open_ = nullptr;
};

}  // namespace echoline::client
