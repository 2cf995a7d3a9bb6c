#include "serve/process/first_streams.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/log.h"
#include "serve/process/progress_log.h"

namespace echoline::serve {
namespace {

// Between two looks at the stop signal, which has a condition of its own.
constexpr std::chrono::milliseconds kStopPoll{20};

}  // namespace

Result<std::unique_ptr<FirstStreams>> FirstStreams::announce(engine::Engine& engine,
                                                             const v1::Config& config,
                                                             KeptStreams& kept,
                                                             const StopSignal& stop) {
  std::unique_ptr<FirstStreams> first(new FirstStreams(engine, kept, stop));
  const std::map<std::string, v1::Stream> configured(config.streams().begin(),
                                                     config.streams().end());
  for (const auto& [name, stream] : configured) {
    ECHOLINE_TRY(engine.announce_stream(name, stream));
    first->streams_.push_back({name, stream, false});
  }
  {
    const MutexLock lock(first->mutex_);
    first->configured_left_ = first->streams_.size();
  }
  for (const auto& [name, stream] : kept.load(config)) {
    const Status status = engine.announce_stream(name, stream);
    if (status.ok()) {
      first->streams_.push_back({name, stream, true});
    } else {
      kept.set_failed(name, status);
    }
  }
  return first;
}

FirstStreams::~FirstStreams() {
  (void)end(std::chrono::milliseconds(0));
  for (std::thread& thread : threads_) thread.join();
}

void FirstStreams::start() {
  const std::size_t count = std::min(kOpenedAtOnce, streams_.size());
  {
    const MutexLock lock(mutex_);
    threads_left_ = count;
  }
  for (std::size_t i = 0; i < count; ++i) threads_.emplace_back([this] { run(); });
}

void FirstStreams::run() {
  ::pthread_setname_np(::pthread_self(), "opener");
  while (const First* first = take_next()) note_created(*first, create(*first));
  {
    const MutexLock lock(mutex_);
    --threads_left_;
  }
  changed_.notify_all();
}

const FirstStreams::First* FirstStreams::take_next() {
  MutexLock lock(mutex_);
  while (!ending_ && next_ < streams_.size()) {
    const First& first = streams_[next_];
    if (!first.kept || configured_left_ == 0) {
      ++next_;
      return &first;
    }
    changed_.wait(lock);
  }
  return nullptr;
}

Status FirstStreams::create(const First& first) {
  return engine_.create_stream(first.name, first.stream, progress_of(first.name));
}

// What a cancelled index pass has scanned is kept.
record::ProgressFunction FirstStreams::progress_of(const std::string& name) const {
  return [this, log = log_progress(name)](const record::Progress& seen) mutable {
    return is_ending() ? Status(Code::kUnavailable, "the daemon is going down") : log(seen);
  };
}

bool FirstStreams::is_ending() const {
  if (stop_.requested()) return true;
  const MutexLock lock(mutex_);
  return ending_;
}

void FirstStreams::note_created(const First& first, const Status& status) {
  // An error of a stream that was cancelled is none of the configuration.
  const bool failed = !status.ok() && !is_ending();
  if (failed && first.kept) {
    // A kept stream must not keep the daemon from starting: its data may be out of reach today.
    kept_.set_failed(first.name, status);
    log_error("serve", "kept {}; it stays kept, and is tried again at the next start",
              status.message());
  }
  {
    const MutexLock lock(mutex_);
    if (!first.kept) --configured_left_;
    if (failed && !first.kept && failure_.ok()) failure_ = status;
  }
  changed_.notify_all();
}

Status FirstStreams::wait() {
  MutexLock lock(mutex_);
  while (threads_left_ > 0 && failure_.ok() && !stop_.requested()) {
    changed_.wait_until(lock, std::chrono::steady_clock::now() + kStopPoll);
  }
  return failure_;
}

bool FirstStreams::end(std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  MutexLock lock(mutex_);
  ending_ = true;
  changed_.notify_all();
  while (threads_left_ > 0 && changed_.wait_until(lock, until)) {
  }
  return threads_left_ == 0;
}

}  // namespace echoline::serve
