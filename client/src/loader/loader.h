// A trainer attached to a stream: waits for batches, and attaches again when the daemon was away.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "loader/daemon_link.h"
#include "loader/lease_timer.h"
#include "loader/loader_info.h"
#include "loader/reader.h"
#include "loader/trainer_wait.h"
#include "state/state_json.h"

namespace echoline::client {

struct LoaderOptions {
  AttachOptions attach;
  std::string runtime_dir;
  std::int64_t attach_ms = 120'000;          // negative: no limit
  std::int64_t reattach_ms = 60'000;         // 0: the loss of the daemon is an error
  std::optional<DeviceEchoPosition> device;  // of the state to continue from
};

// Any thread may make any call at any time. mutex_ guards everything below it and is never held
// while sleeping; lock order: mutex_, then the locks of Attachment and Cursor. After fork() the
// child must not use the loader (compare generation()).
class Loader {
 public:
  explicit Loader(LoaderOptions options);
  ~Loader();

  std::uint32_t generation() const { return generation_; }
  // OK as soon as the loader is attached; TIMEOUT before that.
  Error await_attached(std::int64_t timeout_ms);
  Error next(std::int64_t timeout_ms, std::unique_ptr<Batch>& batch);
  // Ends the attachment; waiting calls end with CANCELLED.
  void close();
  Error begin_epoch();
  Error skip(std::uint64_t steps);
  // The oldest text of the daemon about other trainers; returns each text once.
  std::optional<std::string> take_news();

  // For a device that reads the ring without the CPU. The loader calls the hook, with its lock
  // held, before the daemon may reuse the memory of this attachment; the hook waits until the
  // device has stopped reading and returns whether it has. If not, the attach socket stays open
  // until the process ends. One hook at a time, else FAILED_PRECONDITION. Null removes it.
  using DrainHook = std::function<bool(const std::shared_ptr<Attachment>&)>;
  Error set_drain_hook(DrainHook hook);
  std::shared_ptr<Attachment> attachment();
  const std::optional<DeviceEchoPosition>& device_echo_position() const { return options_.device; }

  // These work after the first attach, also while the daemon is away or after close().
  Error state(State& state);
  Error info(echoline_loader_info& info);
  Error steps_per_epoch(std::uint64_t& steps);
  Error field(std::uint32_t index, echoline_field& field);

 private:
  // All private methods run with mutex_ held, except sleep_until().

  // One attempt, without blocking: TIMEOUT if the caller should sleep. Null: only attach.
  Error step(std::unique_ptr<Batch>* batch);
  Error poll_attach();  // moves the attempt on; an error is final
  // Reads the daemon's notices; may begin to attach again or set final_.
  void poll_daemon();
  // The same when no batch is ready: also acts on a verdict of the daemon.
  void check_daemon();
  void handle_daemon_gone();  // attaches again, if that is wanted
  void handle_moved();        // attaches again to the ring that the job has moved to
  void attach_again(std::int64_t patience_ms, bool persistent);
  // Closes the connection after giving held batches private copies.
  void close_link();
  // Makes `error` the result of every further call.
  Error fail(Error error);
  // Calls `attempt` with the lock held, and sleeps without it while the result is TIMEOUT.
  template <typename Attempt>
  Error sleep_until(std::int64_t timeout_ms, Attempt attempt);
  // Runs `read` on the reader with the lock held, if the loader was ever attached.
  template <typename Read>
  Error with_reader(Read read);

  const LoaderOptions options_;
  const std::uint32_t generation_;
  UnattachedWaits unattached_waits_;  // with a lock of its own, below mutex_
  std::mutex mutex_;
  DaemonLink link_;
  Reader reader_;
  bool attached_once_ = false;
  LeaseTimer lease_timer_;
  DrainHook drain_hook_;
  Error final_;  // if not OK: the result of every further call
};

}  // namespace echoline::client
