// Writes what was set of the streams' orders (kept_order.h) on a thread of its own: a disk that
// hangs holds up no pass and no trainer.
#pragma once

#include <map>
#include <string>

#include "base/mutex.h"
#include "engine/runtime/event_loop.h"
#include "engine/stream/kept_order.h"

namespace echoline::engine {

class OrderWriter {
 public:
  // Any thread. While a write takes long, only the newest settings of each stream wait.
  void write(const KeptOrder& files, const OrderSettings& settings) ECHOLINE_EXCLUDES(mutex_);
  // Writes what waits, then ends the thread.
  void stop() { loop_.stop(); }

 private:
  struct Waiting {
    KeptOrder files;
    OrderSettings settings;
  };
  void write_next(const std::string& name) ECHOLINE_EXCLUDES(mutex_);

  Mutex mutex_;
  std::map<std::string, Waiting> waiting_ ECHOLINE_GUARDED_BY(mutex_);  // by KeptOrder::name
  EventLoop loop_{"kept-order"};  // last: its thread uses the others
};

}  // namespace echoline::engine
