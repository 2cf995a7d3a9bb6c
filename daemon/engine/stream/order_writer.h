// Writes what was set of the streams' orders (kept_order.h) on a thread of its own: a disk that
// hangs holds up no pass and no trainer.
#pragma once

#include <map>
#include <string>

#include "base/mutex.h"
#include "engine/open/stream_core.h"
#include "engine/runtime/event_loop.h"
#include "engine/stream/kept_order.h"

namespace echoline::engine {

// Any thread. The destructor waits for what is still to be written.
class OrderWriter {
 public:
  // Without a state folder nothing is kept.
  explicit OrderWriter(std::string state_dir);

  // While a write takes long, only the newest settings of each stream wait.
  void write(const StreamCore& core, const OrderSettings& settings) ECHOLINE_EXCLUDES(mutex_);
  // The stream was deleted. Waits until its files are removed, after all writes before.
  void remove(const StreamCore& core);

 private:
  struct Waiting {
    KeptOrder files;
    OrderSettings settings;
  };
  KeptOrder files_of(const StreamCore& core) const;
  void write_next(const std::string& name) ECHOLINE_EXCLUDES(mutex_);

  const std::string state_dir_;
  Mutex mutex_;
  std::map<std::string, Waiting> waiting_ ECHOLINE_GUARDED_BY(mutex_);  // by KeptOrder::name
  EventLoop loop_{"kept-order"};  // last: its thread uses the others
};

}  // namespace echoline::engine
