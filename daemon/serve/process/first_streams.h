// Creates the daemon's first streams: those of its configuration and those that were kept. Several
// at a time, so that a stream that is ready serves while another one still indexes its data.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "echoline/v1/config.pb.h"
#include "engine/api/engine.h"
#include "serve/process/kept_streams.h"
#include "serve/process/stop_signal.h"

namespace echoline::serve {

// Streams that are opened at the same time. An index pass needs up to 64 MiB.
inline constexpr std::size_t kOpenedAtOnce = 4;

// One thread uses it; threads of its own create the streams. What it refers to outlives it.
class FirstStreams {
 public:
  // Announces all streams to the engine: from then on trainers wait for them instead of being
  // refused. An error of a configured stream ends the start. A kept one that fails is marked so.
  static Result<std::unique_ptr<FirstStreams>> announce(engine::Engine& engine,
                                                        const v1::Config& config, KeptStreams& kept,
                                                        const StopSignal& stop);
  // Joins the threads, so it waits for openings that end() has not ended.
  ~FirstStreams();

  // Starts to create them, in the order of their names, kept ones after all others: the
  // configuration comes first where memory lacks for both.
  void start();
  // Blocks until all are created, a configured one fails (its error) or a stop is requested. A kept
  // stream that cannot be created stays kept, and the next start tries it again.
  Status wait();
  // Cancels what is still being opened. Returns whether all of it ended in time: a store that does
  // not answer a listing can hold it up for minutes.
  bool end(std::chrono::milliseconds patience);

 private:
  struct First {
    std::string name;
    v1::Stream stream;
    bool kept = false;
  };

  FirstStreams(engine::Engine& engine, KeptStreams& kept, const StopSignal& stop)
      : engine_(engine), kept_(kept), stop_(stop) {}
  // A thread: creates one stream after the other.
  void run();
  // The next stream to create; null: none is left, or the rest is not created.
  const First* take_next();
  Status create(const First& first);
  void note_created(const First& first, const Status& status);
  record::ProgressFunction progress_of(const std::string& name) const;
  bool is_ending() const;

  engine::Engine& engine_;
  KeptStreams& kept_;
  const StopSignal& stop_;
  std::vector<First> streams_;  // the configured ones first
  std::vector<std::thread> threads_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::size_t next_ ECHOLINE_GUARDED_BY(mutex_) = 0;
  std::size_t configured_left_ ECHOLINE_GUARDED_BY(mutex_) = 0;  // not created yet
  std::size_t threads_left_ ECHOLINE_GUARDED_BY(mutex_) = 0;
  bool ending_ ECHOLINE_GUARDED_BY(mutex_) = false;
  Status failure_ ECHOLINE_GUARDED_BY(mutex_);
};

}  // namespace echoline::serve
