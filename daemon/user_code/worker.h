// One worker, a process or a thread of one: starts it, calls the function in it, and ends it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/unique_fd.h"
#include "user_code/area.h"
#include "user_code/function.h"
#include "user_code/message.h"
#include "user_code/process.h"

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
  // Starts a process, and does not wait for it. `function` must outlive it.
  static Result<std::unique_ptr<Worker>> start(const Function& function);
  // The same with several workers, one for each thread of the process. Only the last one can wait
  // for it; whether the others exist is in its answer.
  static Result<std::vector<std::unique_ptr<Worker>>> start_threads(const Function& function,
                                                                    std::size_t count);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // False: the process has ended since the last call, or within `wait_ms`.
  bool is_alive(int wait_ms = 0) const { return process_->is_alive(wait_ms); }
  // Kills the process and its children, with all of its workers. The destructor of the last one
  // does the same.
  void kill() { process_->kill(); }
  // Tells the process that there are no more calls. It ends in order.
  void let_end();
  // The first message: kReady or kNotLoaded. Returns it again if it has come already.
  const Outcome& await_loaded(const Patience& patience);
  // Of another worker of the same process.
  void loaded_as(const Outcome& outcome);

  // Calls the function on these samples of one seed. kResourceExhausted, and no call, if they need
  // more memory than there is. The result's arrays are in `results` until the next call.
  Result<Outcome> call(std::span<const SampleCall> samples, const Patience& patience);
  std::span<const std::byte> results() const { return channel_.output.bytes(); }

  // What it wrote to its standard output and error since the last call; the end of a long text.
  std::string take_written() { return process_->take_written(); }

 private:
  // What it shares with the daemon.
  struct Channel {
    UniqueFd socket;  // the daemon's end
    Area input, output;
  };
  Worker(const Function& function, std::shared_ptr<Process> process, Channel channel)
      : function_(function), process_(std::move(process)), channel_(std::move(channel)) {}

  Outcome await_reply(const Patience& patience);
  // Receives a message if there is one.
  bool receive(Outcome& outcome);
  Outcome died();

  const Function& function_;
  const std::shared_ptr<Process> process_;
  Channel channel_;
  std::uint64_t sequence_ = 0;
  bool has_loaded_ = false;
  Outcome loaded_;
  std::vector<std::byte> message_{kMessageBytesMax};
};

}  // namespace echoline::user_code
