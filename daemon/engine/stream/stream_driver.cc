#include "engine/stream/stream_driver.h"

#include <set>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "engine/open/open_seek_indexes.h"

namespace echoline::engine {
namespace {

Status going_down() { return Status(Code::kUnavailable, "the daemon is going down"); }

}  // namespace

StreamDriver::StreamDriver(SharedStreams& shared, MemoryBudget& budget,
                           AttachedTrainersFile& trainers_file, OrderWriter& order_writer)
    : shared_(shared), budget_(budget), trainers_file_(trainers_file), order_writer_(order_writer) {
  budget_.set_reclaim([this] { return reclaim_idle_pass(); });
  passes_loop_ = std::make_unique<EventLoop>("passes");
  engine_loop_ = std::make_unique<EventLoop>("engine", [this] { tick(); });
}

StreamDriver::~StreamDriver() { stop(); }

void StreamDriver::stop() {
  // Passes that are requested from now on are refused instead of built.
  draining_.store(true);
  // In this order: the engine thread posts to the passes thread. What the passes thread builds for
  // the engine thread now is dropped, and so stopped.
  engine_loop_->stop();
  passes_loop_->stop();
}

void StreamDriver::attach(AttachCall call) {
  // To the engine thread: the door's thread never waits for the registry's lock.
  engine_loop_->post([this, call = std::move(call)]() mutable { do_attach(std::move(call)); });
}

void StreamDriver::do_attach(AttachCall call) {
  const MutexLock lock(shared_.mutex);
  // With the lock: begin_draining sets it under the lock, so none is admitted after it.
  if (shared_.draining) return call.reply(going_down());
  const std::string name(shm::text(call.request.stream));
  if (shared_.table.hold(name, call)) return;
  const Status failure = shared_.table.failure_at_start(call.peer, name);
  if (!failure.ok()) return call.reply(failure);
  const Result<Stream*> stream = shared_.table.find_for(call.peer, name);
  if (!stream.ok()) return call.reply(stream.status());
  stream.value()->attach(std::move(call), monotonic_ns());
  do_work(shared_, name, *stream.value());
}

void StreamDriver::withdraw(std::uint64_t connection) {
  engine_loop_->post([this, connection] {
    // The name of the stream is not known here; connections are unique over all streams.
    const MutexLock lock(shared_.mutex);
    if (shared_.table.withdraw_waiting(connection)) return;
    for (const auto& [name, stream] : shared_.table.streams()) {
      if (stream->withdraw(connection, monotonic_ns())) return do_work(shared_, name, *stream);
    }
  });
}

void StreamDriver::do_work(SharedStreams& shared, const std::string& name, Stream& stream) {
  StreamWork work = stream.take_work();
  for (const TrainerNotice& notice : work.notices) notify(notice);
  // The order of these posts matters: the memory of retired passes is free for the new one.
  if (!work.retired.empty()) {
    passes_loop_->post([passes = std::move(work.retired)] {
      for (const std::shared_ptr<Pass>& pass : passes) retire_pass(*pass);
    });
  }
  if (!work.kept.empty()) {
    order_writer_.write(*stream.core(), work.kept);
  }
  if (work.ended != nullptr) {
    passes_loop_->post([pass = std::move(work.ended)] { pass->stop(shm::kWriterEnded); });
  }
  if (work.build.has_value())
    build(name, shared.table.generation(name), stream, *std::move(work.build));
}

void StreamDriver::build(const std::string& name, std::uint64_t generation, const Stream& stream,
                         Pass::Options options) {
  passes_loop_->post([this, name, generation, core = stream.core(), options = std::move(options)] {
    // In a shared pointer, since a task can be copied.
    auto built = std::make_shared<Result<BuiltPass>>(
        // Slow, and without the lock; `core` keeps alive what the pass needs, also if the stream is
        // deleted.
        draining_.load() ? Result<BuiltPass>(going_down()) : build_pass(core, budget_, options));
    engine_loop_->post([this, name, generation, built = std::move(built)]() mutable {
      hand_over(name, generation, std::move(built));
    });
  });
}

void StreamDriver::hand_over(const std::string& name, std::uint64_t generation,
                             std::shared_ptr<Result<BuiltPass>> built) {
  {
    const MutexLock lock(shared_.mutex);
    // The stream may have been deleted, and another one may have its name.
    if (Stream* stream = shared_.table.get(name, generation)) {
      stream->pass_built(std::move(*built), monotonic_ns());
      do_work(shared_, name, *stream);
      return;
    }
  }
  passes_loop_->post([built = std::move(built)] {});  // its end there stops the pass
}

// On the engine thread, every 10 ms.
void StreamDriver::tick() {
  {
    const MutexLock lock(shared_.mutex);
    for (const auto& [name, stream] : shared_.table.streams()) {
      stream->tick(monotonic_ns());
      do_work(shared_, name, *stream);
    }
    shared_.table.report_progress(monotonic_ns(), [this](const auto& notice) { notify(notice); });
  }
  // While draining, the file keeps trainers that leave now: they go to the next daemon.
  if (!draining_.load()) update_trainers_file();
  // Shows the watchdog that the thread runs and gets the lock.
  rounds_.fetch_add(1, std::memory_order_relaxed);
}

void StreamDriver::update_trainers_file() {
  std::set<std::string> names;
  std::vector<Trainer> trainers;
  {
    // The lists are copied under the lock; the file is written without it.
    const MutexLock lock(shared_.mutex);
    bool changed = std::exchange(shared_.trainers_changed, false);
    for (const auto& [name, stream] : shared_.table.streams()) {
      changed |= stream->take_trainers_changed();
    }
    if (!changed) return;
    for (const auto& [name, stream] : shared_.table.streams()) {
      names.insert(name);
      const std::vector<Trainer> of_stream = stream->trainers();
      trainers.insert(trainers.end(), of_stream.begin(), of_stream.end());
    }
  }
  trainers_file_.keep(names, std::move(trainers));
}

void StreamDriver::begin_draining() {
  // On the engine thread: what the door has posted before this call, trainers that left among it,
  // is done first.
  engine_loop_->run([this] {
    update_trainers_file();
    const MutexLock lock(shared_.mutex);
    shared_.draining = true;
    draining_.store(true);
    shared_.table.refuse_waiting(going_down());
  });
}

void StreamDriver::fail(const std::string& name, std::uint64_t generation, const Status& status) {
  engine_loop_->post([this, name, generation, status] {
    const MutexLock lock(shared_.mutex);
    // The stream may fail while it is being opened; then the failure waits in the table.
    shared_.table.note_failure(name, generation, status);
    Stream* stream = shared_.table.get(name, generation);
    if (stream == nullptr || !stream->failure().ok()) return;
    log_error({"engine", name}, "failed: {}", status.message());
    stream->set_failed(status, monotonic_ns());
    PassEnding ending = ending_of(*stream, shm::kNoticeFailed, status);
    ending.state = shm::kWriterFailed;
    do_work(shared_, name, *stream);
    // Stops the passes before the trainers learn of it (StreamDriver::end does the same).
    passes_loop_->post([this, ending = std::move(ending)] { stop_passes(ending); });
  });
}

void StreamDriver::end(const PassEnding& ending) {
  passes_loop_->run([&] { stop_passes(ending); });
}

void StreamDriver::stop_passes(const PassEnding& ending) {
  for (const std::shared_ptr<Pass>& pass : ending.passes) pass->stop(ending.state);
  for (const std::uint64_t connection : ending.connections) {
    notify({connection, ending.kind, ending.status});
  }
}

bool StreamDriver::reclaim_idle_pass() {
  std::shared_ptr<Pass> idle;
  {
    const MutexLock lock(shared_.mutex);
    // Indexes only save time, so their room comes before any pass.
    for (const auto& [name, stream] : shared_.table.streams()) {
      if (give_up_seek_room(*stream->core())) return true;
    }
    for (const auto& [name, stream] : shared_.table.streams()) {
      idle = stream->give_up_idle_pass();
      if (idle == nullptr) continue;
      log_info({"engine", name}, "gives up a pass that nobody reads: its memory is needed");
      break;
    }
  }
  if (idle == nullptr) return false;
  // On the passes thread, where every pass is stopped. Waits, because the caller wants the memory.
  passes_loop_->run([&] { retire_pass(*idle); });
  return true;
}

void StreamDriver::notify(const TrainerNotice& notice) {
  // Held during the call: after set_notify({}) returns, no thread is in the old function.
  const MutexLock lock(notify_mutex_);
  if (notify_) notify_(notice.connection, notice.kind, notice.status);
}

void StreamDriver::set_notify(NotifyFunction notify) {
  const MutexLock lock(notify_mutex_);
  notify_ = std::move(notify);
}

}  // namespace echoline::engine
