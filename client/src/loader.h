// A trainer attached to a stream: waits for batches, and for a daemon that went away.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "connector.h"
#include "reader.h"
#include "state_json.h"

namespace echoline::client {

struct LoaderOptions {
  AttachWish wish;
  std::string runtime_dir;
  std::int64_t attach_ms = 120'000;   // negative: no limit
  std::int64_t reattach_ms = 60'000;  // 0: the loss of the daemon is an error
  std::optional<DevicePlace> device;  // of the state that it is attached with
};

// Threads: any call from any thread. The lock is never held while sleeping. After fork() the child
// must not use it (generation()).
class Loader {
 public:
  explicit Loader(LoaderOptions options);
  ~Loader();

  std::uint32_t generation() const { return generation_; }
  // TIMEOUT until attached; then OK at once.
  Error await_attached(std::int64_t timeout_ms);
  Error next(std::int64_t timeout_ms, std::unique_ptr<Batch>& batch);
  // Ends the attachment; calls that wait end with CANCELLED.
  void close();
  Error begin_epoch();
  Error skip(std::uint64_t steps);
  // What the daemon said about other trainers, oldest first; each is given once.
  std::optional<std::string> take_news();

  // For who reads the ring by other means than the CPU: `settle` runs before this attachment's
  // memory is left to others, under the loader's lock, and says whether that reading has ended; if
  // not, the door stays open until the process ends. One at a time: FAILED_PRECONDITION where there
  // is one. Null: nobody does any more.
  using Settle = std::function<bool(const std::shared_ptr<Attachment>&)>;
  Error before_leaving(Settle settle);
  std::shared_ptr<Attachment> attachment();
  const std::optional<DevicePlace>& device_place() const { return options_.device; }

  // After the first attach, also while the daemon is away.
  Error state(State& state);
  Error info(echoline_loader_info& info);
  Error steps_per_epoch(std::uint64_t& steps);
  Error field(std::uint32_t index, echoline_field& field);

 private:
  class Wait;

  // One look, under the lock: TIMEOUT if the caller is to sleep.
  Error step(std::unique_ptr<Batch>* batch);
  Error pump_connector();
  Error check_lease();
  bool look_is_due();
  void hear_daemon();
  void check_daemon();
  void daemon_gone();
  void change_ring();
  void attach_again(std::int64_t patience_ms, bool also_to_another_daemon);
  void close_door();
  Error fail(Error error);
  Error check_attached() const;
  template <typename Look>
  Error sleep_until(std::int64_t timeout_ms, Look look);

  const LoaderOptions options_;
  const std::uint32_t generation_;
  std::mutex mutex_;
  Connector connector_;
  std::shared_ptr<DoorClient> door_;  // none while the daemon is away
  Reader reader_;
  bool attached_once_ = false;
  std::deque<std::string> news_;
  std::uint64_t looked_ns_ = 0;  // at the daemon
  std::uint64_t failing_since_ns_ = 0;
  std::uint64_t blocked_since_ns_ = 0;
  Settle settle_;
  Error final_;  // what every further call returns
};

}  // namespace echoline::client
