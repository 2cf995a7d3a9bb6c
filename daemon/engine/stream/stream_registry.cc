#include "engine/stream/stream_registry.h"

#include <fmt/format.h>

#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/pluralize.h"
#include "base/processors.h"
#include "base/system_limit.h"
#include "config/load.h"
#include "config/pipeline.h"
#include "config/values.h"
#include "engine/open/kept_echo_place.h"
#include "engine/stream/definition_diff.h"
#include "engine/stream/verdict_files.h"
#include "plan/step_rows.h"
#include "source/http/learned_limits.h"

namespace echoline::engine {
namespace {

// What is kept of a stream over restarts.
void forget_all(const StreamCore& core, const std::string& state_dir, OrderWriter& order_writer) {
  order_writer.remove(core);
  remove_verdicts(state_dir, core);
  const Status removed = KeptEchoPlace(state_dir, core.name).remove();
  if (!removed.ok()) log_warning("engine", "the place of 'echo' stays: {}", removed.message());
}

Status forget_place(const Result<std::shared_ptr<StreamCore>>& core, const std::string& state_dir) {
  ECHOLINE_TRY(core.status());
  const StreamCore& found = *core.value();
  if (!found.echo_choice.empty()) return KeptEchoPlace(state_dir, found.name).remove();
  return Status(Code::kFailedPrecondition,
                fmt::format("the place of echo in stream '{}' is not chosen by the daemon: change "
                            "the pipeline and create the stream again",
                            found.name));
}

constexpr std::chrono::milliseconds kDrainPoll{10};

// Also used by create_stream when the name is taken: creating the same stream again is no error.
// Ok if the stream that has the name is this one and takes trainers.
Status check_same(const Stream& stream, const std::string& name, const v1::Stream& definition) {
  const std::string differences = differences_of(stream.definition(), definition);
  if (!differences.empty()) {
    return Status(Code::kAlreadyExists,
                  fmt::format("stream '{}' exists and is another one: {}; delete it first, or take "
                              "another name",
                              name, differences));
  }
  const Status open = stream.check_open();
  if (open.ok()) return {};
  return Status(Code::kFailedPrecondition,
                fmt::format("stream '{}' is there but takes no trainers: {}; delete it first", name,
                            open.message()));
}

// Opening starts threads and opens files.
Result<std::unique_ptr<Stream>> open_within_limits(const StreamOpener& opener,
                                                   const std::string& name,
                                                   const v1::Stream& definition,
                                                   const record::ProgressFunction& progress,
                                                   std::function<void(const Status&)> fail) {
  try {
    return opener.open(name, definition, progress, std::move(fail));
  } catch (const std::system_error& error) {
    return limit_reached(error);
  }
}

Result<AccessList> access_of(const std::string& name, const v1::Stream& definition) {
  const v1::Publish& publish = config::publish_step(definition);
  return AccessList::parse(fmt::format("stream '{}': publish.access", name),
                           {publish.access().begin(), publish.access().end()});
}

Result<std::vector<std::string>> keys_of(const record::Index& index,
                                         const std::vector<std::uint64_t>& samples) {
  std::vector<std::string> keys;
  for (const std::uint64_t sample : samples) {
    if (sample >= index.record_count()) {
      return Status(Code::kInvalidArgument, fmt::format("sample {} of a stream with {} records",
                                                        sample, index.record_count()));
    }
    keys.push_back(index.key(sample));
  }
  return keys;
}

std::vector<SampleUse> uses_of(const std::vector<plan::RowUse>& rows) {
  std::vector<SampleUse> uses;
  for (const plan::RowUse& row : rows) uses.push_back({row.record, row.use});
  return uses;
}

void log_created(const std::string& name, const StreamStats& stats) {
  log_info({"engine", name}, "open: {} in {}, {} of {} an epoch, echo {} x {}, ring {}",
           pluralize(stats.records, "record"), pluralize(stats.shards, "shard"),
           pluralize(stats.batches_per_epoch, "batch"), stats.batch_rows, stats.echo_point,
           config::format_thousandths(stats.factor),
           config::format_bytes(stats.memory_bytes.at("ring")));
}

bool all_are_drained(SharedStreams& shared) {
  const MutexLock lock(shared.mutex);
  for (const auto& [name, stream] : shared.table.streams()) {
    if (!stream->is_drained()) return false;
  }
  return true;
}

std::uint32_t worker_count(const v1::Daemon& daemon) {
  if (daemon.workers() != 0) return daemon.workers();
  return usable_processors(std::thread::hardware_concurrency());
}

OpenOptions open_options(const v1::Daemon& daemon) {
  return {.state_dir = daemon.state_dir(),
          .seek_index = daemon.seek_index(),
          .serves = !daemon.serve().listen().empty(),
          .agrees = daemon.has_etcd(),
          .stall_report_ns = daemon.stall_report()};
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::create(const v1::Daemon& daemon) {
  ECHOLINE_TRY(check_budget_fits(daemon.memory()));
  if (!daemon.state_dir().empty())
    source::LearnedLimits::of_process().keep_in(daemon.state_dir() + "/endpoints");
  auto engine = std::make_unique<StreamRegistry>(daemon);
  ECHOLINE_TRY(engine->open());
  return std::unique_ptr<Engine>(std::move(engine));
}

StreamRegistry::StreamRegistry(const v1::Daemon& daemon)
    : budget_(daemon.memory()),
      trainers_file_(daemon.runtime_dir()),
      samples_(shared_, daemon.serve()),
      order_writer_(daemon.state_dir()),
      driver_(shared_, budget_, trainers_file_, order_writer_),
      agreement_(shared_, driver_, daemon),
      pool_(worker_count(daemon)),
      opener_{open_options(daemon), daemon.reattach_grace(), &pool_, &budget_, &trainers_file_} {}

StreamRegistry::~StreamRegistry() {
  agreement_.stop();
  driver_.stop();
  // No other thread has the streams any more. They end before the worker pool, to which their
  // threads push tasks; what they report to the stopped driver is dropped.
  shared_.table.clear();
}

Status StreamRegistry::announce_stream(const std::string& name, const v1::Stream& stream) {
  v1::Stream definition = stream;
  ECHOLINE_TRY(config::complete_stream(name, definition));
  ECHOLINE_ASSIGN(AccessList access, access_of(name, definition));
  const MutexLock lock(shared_.mutex);
  return shared_.table.announce(name, std::move(access));
}

// Two steps under the lock, with the slow opening between them; `opening` keeps the name meanwhile.
Status StreamRegistry::create_stream(const std::string& name, const v1::Stream& stream,
                                     const record::ProgressFunction& progress) {
  v1::Stream definition = stream;
  ECHOLINE_TRY(config::complete_stream(name, definition));
  ECHOLINE_ASSIGN(AccessList access, access_of(name, definition));
  std::uint64_t generation = 0;
  {
    const MutexLock lock(shared_.mutex);
    if (const Stream* same = shared_.table.get(name)) return check_same(*same, name, definition);
    ECHOLINE_ASSIGN(generation, shared_.table.begin_opening(name, std::move(access)));
  }
  const auto note = [&](const record::Progress& seen) {
    {
      const MutexLock lock(shared_.mutex);
      shared_.table.note_progress(name, seen, monotonic_ns());
    }
    return progress ? progress(seen) : Status();
  };
  Result<std::unique_ptr<Stream>> opened = open_within_limits(
      opener_, name, definition, note,
      [this, name, generation](const Status& status) { driver_.fail(name, generation, status); });
  if (opened.ok()) {
    add(name, std::move(opened).value(), generation);
    return {};
  }
  const Status why = opened.status().with_context("stream '" + name + "'");
  const MutexLock lock(shared_.mutex);
  shared_.table.abandon(name, why);
  return why;
}

// Not yet in the table, so the stream can be asked without the lock, and no trainer has it before
// the log says so.
void StreamRegistry::add(const std::string& name, std::unique_ptr<Stream> stream,
                         std::uint64_t generation) {
  log_created(name, stream->stats(monotonic_ns()));
  Status failure;
  {
    const MutexLock lock(shared_.mutex);
    Stream& added = *stream;
    Opening before = shared_.table.add(name, std::move(stream));
    failure = before.failure;
    // After begin_draining() nobody waits any more.
    for (AttachCall& call : before.trainers.take()) added.attach(std::move(call), monotonic_ns());
    driver_.do_work(shared_, name, added);
  }
  if (!failure.ok()) driver_.fail(name, generation, failure);
}

// Taken out of the table first: from then on no other thread can reach the stream.
Status StreamRegistry::delete_stream(const std::string& name) {
  std::unique_ptr<Stream> stream;
  {
    const MutexLock lock(shared_.mutex);
    ECHOLINE_ASSIGN(stream, shared_.table.remove(name));
    shared_.trainers_changed = true;
  }
  // After this the passes thread has nothing left to do for the stream, so that it can end here.
  driver_.end(ending_of(*stream, shm::kNoticeDetached,
                        Status(Code::kNotFound, fmt::format("stream '{}' was deleted", name))));
  forget_all(*stream->core(), opener_.options.state_dir, order_writer_);
  return {};
}

// The passes end without the lock, after the stream refuses new trainers.
Result<std::uint64_t> StreamRegistry::close_stream(const std::string& name) {
  PassEnding ending;
  std::uint64_t generation = 0;
  {
    const MutexLock lock(shared_.mutex);
    ECHOLINE_ASSIGN(Stream * stream, shared_.table.find(name));
    generation = shared_.table.generation(name);
    if (!stream->failure().ok()) {
      return Status(Code::kFailedPrecondition,
                    fmt::format("stream '{}' has failed: {}", name, stream->failure().message()));
    }
    if (stream->is_closed()) return generation;
    log_info("engine", "stream {}: drained", name);
    stream->close(monotonic_ns());
    ending = ending_of(*stream, shm::kNoticeDetached, stream->check_open());
    driver_.do_work(shared_, name, *stream);
  }
  driver_.end(ending);
  return generation;
}

// Polls, because trainers release batches in shared memory without telling anybody.
Result<bool> StreamRegistry::drain_stream(const std::string& name,
                                          std::chrono::milliseconds patience,
                                          const std::function<bool()>& cancelled) {
  const auto until = std::chrono::steady_clock::now() + patience;
  ECHOLINE_ASSIGN(const std::uint64_t generation, close_stream(name));
  while (true) {
    {
      const MutexLock lock(shared_.mutex);
      // Another stream may have the name by now: the generation tells.
      const Stream* stream = shared_.table.get(name, generation);
      if (stream == nullptr) {
        return Status(Code::kNotFound, fmt::format("stream '{}' was deleted meanwhile", name));
      }
      if (stream->is_drained()) return true;
    }
    if (std::chrono::steady_clock::now() >= until || cancelled()) return false;
    std::this_thread::sleep_for(kDrainPoll);
  }
}

void StreamRegistry::attach(std::uint64_t connection, const shm::AttachRequest& request,
                            const Peer& peer, ReplyFunction reply) {
  driver_.attach({connection, request, peer, std::move(reply)});
}

Status StreamRegistry::forget_echo_place(const std::string& name) {
  return forget_place(core_of(shared_, name), opener_.options.state_dir);
}

// One lock for all streams, so the numbers fit together.
EngineStats StreamRegistry::stats() const {
  const MutexLock lock(shared_.mutex);
  EngineStats stats;
  stats.streams = shared_.table.opening_stats();
  const std::uint64_t now_ns = monotonic_ns();
  for (const auto& [name, stream] : shared_.table.streams())
    stats.streams.push_back(stream->stats(now_ns));
  stats.memory_budget = budget_.budget_bytes();
  stats.memory_reserved = budget_.reserved_bytes();
  stats.workers = static_cast<std::uint32_t>(pool_.worker_count());
  stats.tasks_queued = pool_.queued();
  samples_.report(stats);
  agreement_.report(stats);
  return stats;
}

Result<v1::Stream> StreamRegistry::definition(const std::string& name) const {
  const MutexLock lock(shared_.mutex);
  ECHOLINE_ASSIGN(const Stream* stream, shared_.table.find(name));
  return stream->definition();
}

Result<std::map<std::string, std::string>> StreamRegistry::states(const std::string& name) const {
  const MutexLock lock(shared_.mutex);
  ECHOLINE_ASSIGN(const Stream* stream, shared_.table.find(name));
  return stream->states();
}

// Without the lock: reading keys of an index can take long, and the core is shared.
Result<std::vector<std::string>> StreamRegistry::keys(
    const std::string& name, const std::vector<std::uint64_t>& samples) const {
  ECHOLINE_ASSIGN(const std::shared_ptr<StreamCore> core, core_of(shared_, name));
  return keys_of(core->data_set->index(), samples);
}

// From the plan alone; no pass is asked.
Result<std::vector<SampleUse>> StreamRegistry::step(const std::string& name, std::uint32_t epoch,
                                                    std::uint64_t step,
                                                    std::uint32_t batch_size) const {
  ECHOLINE_ASSIGN(const std::shared_ptr<StreamCore> core, core_of(shared_, name));
  ECHOLINE_ASSIGN(const std::vector<plan::RowUse> rows,
                  plan::rows_of_step(*core->plan, epoch, step, batch_size));
  return uses_of(rows);
}

// Passes end first, then the trainers get time to take what is published.
void StreamRegistry::drain(std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  driver_.begin_draining();
  PassEnding ending;
  ending.kind = shm::kNoticeDraining;
  ending.status = Status(Code::kUnavailable, "the daemon is going down");
  {
    const MutexLock lock(shared_.mutex);
    for (const auto& [name, stream] : shared_.table.streams()) ending.add(*stream);
  }
  driver_.end(ending);
  while (!all_are_drained(shared_) && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(kDrainPoll);
  }
}

}  // namespace echoline::engine
