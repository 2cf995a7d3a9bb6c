// The trainer's end of the door: connect, ask, receive the descriptors, and hear of the daemon's
// death.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attach_request.h"
#include "os_handle.h"

namespace echoline::client {

// One connection. Never blocks but in wait(). One thread at a time.
class DoorClient {
 public:
  // Connects and sends the request. A daemon that isn't there is an error at once.
  static Error knock(const std::string& runtime_dir, const AttachWish& wish,
                     std::unique_ptr<DoorClient>& door);

  // Whoever lets go of it, it stays open until the process ends. Takes no memory: there may be
  // none.
  static void leave_open(std::shared_ptr<DoorClient> door);

  // Whether the answer has come (`grant` is filled or the result is the refusal).
  bool poll_answer(Grant& grant, Error& error);
  // Sleeps until the socket has something to say, or time_out_ms.
  void wait(int timeout_ms) const;

  // After the answer: reads what the daemon has to say. False once it is gone.
  bool poll_alive();
  // The last thing the daemon said, if it took this trainer off or failed.
  const std::optional<Error>& verdict() const { return verdict_; }
  // Another ring awaits this trainer: it is to attach again, at its position.
  bool moved() const { return moved_; }
  // What it said about other trainers since this was last asked.
  std::vector<std::string> take_news() { return std::exchange(news_, {}); }

 private:
  void take_notice(const shm::Notice& notice);
  void take_verdict(const shm::Notice& notice, const std::string& text);

  GuardedFd socket_;
  std::optional<Error> verdict_;
  bool gone_ = false;
  bool moved_ = false;
  std::vector<std::string> news_;
  // Of those that were left open:
  std::shared_ptr<DoorClient> itself_;
  DoorClient* next_left_open_ = nullptr;
};

}  // namespace echoline::client
