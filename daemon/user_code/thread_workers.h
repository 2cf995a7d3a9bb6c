// Workers that are threads of one process, for interpreters without a GIL.
#pragma once

#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "user_code/worker.h"

namespace echoline::user_code {

// Any thread. When a process has ended, all of its workers have; the first caller that needs one
// starts the next process, and others wait for it.
class ThreadWorkers {
 public:
  // `function` must outlive it.
  explicit ThreadWorkers(const Function& function) : function_(function) {}

  // A worker of the present process, or of a new one, for which it waits until the function is
  // loaded: Worker::await_loaded says whether it is. kCancelled: `patience` was stopped.
  Result<std::unique_ptr<Worker>> take(const Patience& patience) ECHOLINE_EXCLUDES(mutex_);

 private:
  const Function& function_;
  Mutex mutex_;  // no other lock is taken under it
  CondVar started_;
  bool is_starting_ ECHOLINE_GUARDED_BY(mutex_) = false;
  // Those of the present process that nobody has taken yet.
  std::vector<std::unique_ptr<Worker>> rest_ ECHOLINE_GUARDED_BY(mutex_);
};

}  // namespace echoline::user_code
