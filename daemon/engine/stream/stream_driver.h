// Drives the streams of the engine: one thread admits trainers and ticks, another one does the slow
// work on passes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "engine/api/attach.h"
#include "engine/jobs/attached_trainers_file.h"
#include "engine/runtime/event_loop.h"
#include "engine/runtime/memory_budget.h"
#include "engine/stream/order_writer.h"
#include "engine/stream/pass_ending.h"
#include "engine/stream/stream.h"
#include "engine/stream/stream_table.h"

namespace echoline::engine {

// The streams and the registry's lock. Lock order: `mutex` before the locks of the event loops, of
// a pass, of a ring and of the notify function; no other lock is held when it is taken.
struct SharedStreams {
  Mutex mutex;  // guards every Stream in the table, too
  StreamTable table ECHOLINE_GUARDED_BY(mutex);
  bool draining ECHOLINE_GUARDED_BY(mutex) = false;          // no trainer is admitted any more
  bool trainers_changed ECHOLINE_GUARDED_BY(mutex) = false;  // by a stream that was removed
};

// Any thread may call any of it, except as noted. Two threads: "engine" admits trainers and ticks
// with the registry's lock, and does nothing slow; "passes" builds, ends and retires passes, one
// after the other, without the lock. A pass is stopped by the passes thread only.
class StreamDriver {
 public:
  StreamDriver(SharedStreams& shared, MemoryBudget& budget, AttachedTrainersFile& trainers_file,
               OrderWriter& order_writer);
  ~StreamDriver();
  // Ends both threads. Afterwards the caller alone has the streams.
  void stop() ECHOLINE_EXCLUDES(shared_.mutex);

  void attach(AttachCall call);
  void withdraw(std::uint64_t connection);
  // A stream cannot continue: its trainers are notified why.
  void fail(const std::string& name, std::uint64_t generation, const Status& status);

  // Ends passes, then notifies their trainers: when a trainer learns of the end, nothing is written
  // to its ring any more. Waits for the end, without the registry's lock.
  void end(const PassEnding& ending) ECHOLINE_EXCLUDES(shared_.mutex);
  // Admits no trainer from now on. Trainers that left before this call are no longer in the
  // trainers file; those that leave afterwards stay in it, as they go to the next daemon.
  void begin_draining() ECHOLINE_EXCLUDES(shared_.mutex);

  // Does what a stream has asked for: called after each call that may change the stream. `shared`
  // is that of the constructor; clang sees by it that the caller holds the registry's lock.
  void do_work(SharedStreams& shared, const std::string& name, Stream& stream)
      ECHOLINE_REQUIRES(shared.mutex);
  void set_notify(NotifyFunction notify);
  // Of the engine thread: grows while the thread is alive and gets the registry's lock. Takes no
  // lock.
  std::uint64_t rounds() const { return rounds_.load(std::memory_order_relaxed); }

 private:
  void tick();  // one round of the engine thread
  // On the engine thread: finds the stream and hands it the request.
  void do_attach(AttachCall call);
  // Builds a pass on the passes thread and hands it to the stream on the engine thread.
  void build(const std::string& name, std::uint64_t generation, const Stream& stream,
             Pass::Options options);
  // On the engine thread: gives a stream the pass that was built for it, or has it stopped.
  void hand_over(const std::string& name, std::uint64_t generation,
                 std::shared_ptr<Result<BuiltPass>> built);
  // Writes the trainers file if trainers came or left.
  void update_trainers_file() ECHOLINE_EXCLUDES(shared_.mutex);
  // Gives up memory that only saves time: unused room of seek indexes, else one idle pass, for
  // whose end it waits. False if there is none.
  bool reclaim_idle_pass() ECHOLINE_EXCLUDES(shared_.mutex);
  // On the passes thread: stops the passes, then notifies their trainers.
  void stop_passes(const PassEnding& ending) ECHOLINE_EXCLUDES(shared_.mutex);
  // Any thread, also with the registry's lock.
  void notify(const TrainerNotice& notice);

  SharedStreams& shared_;
  MemoryBudget& budget_;
  AttachedTrainersFile& trainers_file_;
  OrderWriter& order_writer_;
  Mutex notify_mutex_;
  NotifyFunction notify_ ECHOLINE_GUARDED_BY(notify_mutex_);
  std::atomic<std::uint64_t> rounds_{0};
  std::atomic<bool> draining_{false};
  std::unique_ptr<EventLoop> passes_loop_;
  std::unique_ptr<EventLoop> engine_loop_;
};

// Calls `change` with a stream that takes trainers, and does what the stream has asked for: one
// step under the lock.
template <typename Change>
auto change_stream(SharedStreams& shared, StreamDriver& driver, const std::string& name,
                   const Change& change) -> decltype(change(std::declval<Stream&>())) {
  const MutexLock lock(shared.mutex);
  ECHOLINE_ASSIGN(Stream * stream, shared.table.find(name));
  ECHOLINE_TRY(stream->check_open());
  auto changed = change(*stream);
  driver.do_work(shared, name, *stream);
  return changed;
}

}  // namespace echoline::engine
