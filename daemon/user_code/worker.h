// One worker process: starts it, calls the function in it, and ends it.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "base/unique_fd.h"
#include "user_code/area.h"
#include "user_code/function.h"
#include "user_code/message.h"

namespace echoline::user_code {

// How a wait for a worker ended.
enum class Ended : std::uint8_t {
  kReply,
  kDied,  // the process has ended
  kTimedOut,
  kBroken,   // it sent something that is no reply
  kStopped,  // the caller does not want the result any more
};

struct Outcome {
  Ended ended = Ended::kReply;
  Reply reply = {};         // of kReply
  std::string reason = {};  // of all others, in words
};

// When a wait ends without a reply.
struct Patience {
  std::uint64_t deadline_ns = 0;
  const std::atomic<bool>* stopping = nullptr;  // null: never
};

// One thread at a time. After any outcome but kReply the worker is of no use: destroy it.
class Worker {
 public:
  // Starts the process, and does not wait for it. `function` must outlive it.
  static Result<std::unique_ptr<Worker>> start(const Function& function);
  // Kills the process and its children.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // False: the process has ended since the last call, or within `wait_ms`.
  bool is_alive(int wait_ms = 0) const;
  // Tells the process that there are no more calls. It ends in order.
  void let_end();
  // The first message: kReady or kNotLoaded. Returns it again if it has come already.
  const Outcome& await_loaded(const Patience& patience);

  // Calls the function on these samples of one seed. kResourceExhausted, and no call, if they need
  // more memory than there is. The result's arrays are in `results` until the next call.
  Result<Outcome> call(std::span<const SampleCall> samples, const Patience& patience);
  std::span<const std::byte> results() const { return output_.bytes(); }

  // What it wrote to its standard output and error since the last call; the end of a long text.
  std::string take_written() { return std::exchange(written_, {}); }

 private:
  struct Files {
    UniqueFd socket, text, life, process;  // of the daemon
  };
  Worker(pid_t pid, const Function& function, Files files, Area input, Area output)
      : pid_(pid),
        function_(function),
        files_(std::move(files)),
        input_(std::move(input)),
        output_(std::move(output)) {}

  Outcome await_reply(const Patience& patience);
  // Receives a message if there is one.
  bool receive(Outcome& outcome);
  // Reads a part of what is in the pipe now; false if there is nothing.
  bool read_text();
  Outcome died();

  pid_t pid_;  // -1 once it has been waited for
  const Function& function_;
  const Files files_;
  Area input_;
  Area output_;
  std::uint64_t sequence_ = 0;
  bool has_loaded_ = false;
  Outcome loaded_;
  std::string written_;
  std::vector<std::byte> message_{kMessageBytesMax};
};

}  // namespace echoline::user_code
