// For making the library's threads in a trainer's process.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace echoline::client::cuda {

// Blocks all signals in this thread while it lives. Threads that are made meanwhile inherit that:
// the trainer's own threads handle its signals.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace echoline::client::cuda
