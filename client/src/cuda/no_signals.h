// Threads of the library's own in a trainer's process.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace echoline::client::cuda {

// The trainer's signals are for its own threads: those made meanwhile take none.
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
