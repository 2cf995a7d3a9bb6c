#include "engine/stream/stream_registry.h"

#include <fmt/format.h>
#include <unistd.h>

#include <set>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/pluralize.h"
#include "base/processors.h"
#include "base/sanitize_name.h"
#include "config/load.h"
#include "config/values.h"
#include "engine/stats/verdict.h"
#include "engine/stream/definition_diff.h"
#include "plan/step_rows.h"

namespace echoline::engine {
namespace {

constexpr std::chrono::milliseconds kDrainPoll{10};

Status being_created(const std::string& name) {
  return Status(Code::kFailedPrecondition,
                fmt::format("stream '{}' is just being created; ask again when it is ready", name));
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::create(const v1::Daemon& daemon) {
  ECHOLINE_TRY(check_budget_fits(daemon.memory()));
  return std::unique_ptr<Engine>(std::make_unique<StreamRegistry>(daemon));
}

StreamRegistry::StreamRegistry(const v1::Daemon& daemon)
    : state_dir_(daemon.state_dir()),
      reattach_grace_ns_(daemon.reattach_grace()),
      budget_(daemon.memory()),
      pool_(daemon.workers() != 0 ? daemon.workers()
                                  : usable_processors(std::thread::hardware_concurrency())),
      attached_trainers_file_(daemon.runtime_dir()) {
  event_loop_ = std::make_unique<EventLoop>([this] { tick(); });
}

StreamRegistry::~StreamRegistry() {
  event_loop_->stop();
  std::lock_guard lock(mutex_);
  streams_.clear();
}

Result<Stream*> StreamRegistry::find(const std::string& name) const {
  return find_for(Peer{.uid = ::geteuid(), .groups = {}}, name);
}

Result<Stream*> StreamRegistry::find_for(const Peer& peer, const std::string& name) const {
  std::string known;
  for (const auto& [other, stream] : streams_) {
    const AccessList& access = stream->core().access;
    const bool may_use = access.empty() || is_own(peer) || access.names(peer);
    if (other == name && may_use) return stream.get();
    if (other == name) tell_refused(peer, name);
    if (may_use) known += (known.empty() ? "" : ", ") + other;
  }
  return Status(Code::kNotFound, fmt::format("no stream '{}'; there are: {}", sanitize_name(name),
                                             known.empty() ? "none" : known));
}

// At most once a second: whoever is refused could fill the disk with it.
void StreamRegistry::tell_refused(const Peer& peer, const std::string& name) const {
  if (!refusals_told_.due(monotonic_ns())) return;
  log_warning({"engine", name}, "process {} of user {} may not attach (publish.access)", peer.pid,
              peer.uid);
}

Status StreamRegistry::create_stream(const std::string& name, const v1::Stream& stream,
                                     const record::ProgressFunction& progress) {
  v1::Stream definition = stream;
  ECHOLINE_TRY(config::complete_stream(name, definition));
  std::vector<Trainer> expected;
  std::uint64_t incarnation = 0;
  {
    std::lock_guard lock(mutex_);
    if (streams_.contains(name)) return check_same(name, definition);
    if (!opening_.try_emplace(name).second) return being_created(name);
    incarnation = generations_.begin(name);
    expected = attached_trainers_file_.left_behind(name);
  }
  const auto post_failure = [this, name, incarnation](const Status& status) {
    event_loop_->post(
        [this, name, incarnation, status] { fail_stream(name, incarnation, status); });
  };
  Result<OpenedStream> opened =
      open_stream(name, definition, state_dir_, pool_, budget_, progress, post_failure);
  // A ring may be large: nothing else waits for it.
  Result<std::unique_ptr<Stream>> made =
      begin(std::move(opened), std::move(definition), std::move(expected));
  if (made.ok() && progress) {
    if (Status ended = progress({}); !ended.ok()) made = std::move(ended);
  }
  std::lock_guard lock(mutex_);
  const Status early = opening_.extract(name).mapped();
  if (!made.ok()) {
    generations_.end(name);
    return made.status().with_context("stream '" + name + "'");
  }
  const StreamStats stats = made.value()->stats();
  log_info({"engine", name}, "{} in {}, {} of {} an epoch, echo {} x {}, ring {}",
           pluralize(stats.records, "record"), pluralize(stats.shards, "shard"),
           pluralize(stats.batches_per_epoch, "batch"), stats.batch_rows, stats.echo_point,
           config::format_thousandths(stats.factor),
           config::format_bytes(stats.memory_bytes.at("ring")));
  Stream& ready = *streams_.emplace(name, std::move(made).value()).first->second;
  if (!early.ok()) fail(ready, early);
  return {};
}

// Whether the stream of that name, which is there, is this one and takes trainers.
Status StreamRegistry::check_same(const std::string& name, const v1::Stream& definition) const {
  const Stream& stream = *streams_.at(name);
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

Result<std::unique_ptr<Stream>> StreamRegistry::begin(Result<OpenedStream> opened,
                                                      v1::Stream definition,
                                                      std::vector<Trainer> expected) {
  if (!opened.ok()) return opened.status();
  auto stream = std::make_unique<Stream>(
      std::move(opened).value(), std::move(definition), budget_,
      static_cast<std::uint32_t>(pool_.worker_count()),

      ReattachBarrier(std::move(expected), monotonic_ns() + reattach_grace_ns_));
  ECHOLINE_TRY(stream->warm_up());
  return stream;
}

Status StreamRegistry::delete_stream(const std::string& name) {
  std::unique_ptr<Stream> stream;
  {
    std::lock_guard lock(mutex_);
    if (opening_.contains(name)) return being_created(name);
    ECHOLINE_TRY(find(name).status());
    stream = std::move(streams_.extract(name).mapped());
    generations_.end(name);
    roster_changed_ = true;
  }
  end_stream(*stream, shm::kWriterEnded, shm::kNoticeDetached,
             Status(Code::kNotFound, fmt::format("stream '{}' was deleted", name)));
  return {};
}

Result<bool> StreamRegistry::drain_stream(const std::string& name,
                                          std::chrono::milliseconds patience,
                                          const std::function<bool()>& cancelled) {
  const auto until = std::chrono::steady_clock::now() + patience;
  std::uint64_t incarnation = 0;
  {
    std::lock_guard lock(mutex_);
    ECHOLINE_ASSIGN(Stream * stream, find(name));
    incarnation = generations_.of(name);
    if (!stream->failure().ok()) {
      return Status(Code::kFailedPrecondition,
                    fmt::format("stream '{}' has failed: {}", name, stream->failure().message()));
    }
    if (!stream->is_closed()) {
      log_info("engine", "stream {}: drained", name);
      stream->close();
      end_stream(*stream, shm::kWriterEnded, shm::kNoticeDetached, stream->check_open());
    }
  }
  while (true) {
    {
      std::lock_guard lock(mutex_);
      ECHOLINE_ASSIGN(const Stream* stream, find(name));
      if (generations_.of(name) != incarnation) {
        return Status(Code::kNotFound, fmt::format("stream '{}' was deleted meanwhile", name));
      }
      if (stream->drained()) return true;
    }
    if (std::chrono::steady_clock::now() >= until || cancelled()) return false;
    std::this_thread::sleep_for(kDrainPoll);
  }
}

void StreamRegistry::fail_stream(const std::string& name, std::uint64_t incarnation,
                                 const Status& status) {
  std::lock_guard lock(mutex_);
  if (generations_.of(name) != incarnation) return;
  const auto opening = opening_.find(name);
  if (opening != opening_.end()) opening->second = status;
  const auto found = streams_.find(name);
  if (found != streams_.end()) fail(*found->second, status);
}

void StreamRegistry::fail(Stream& stream, const Status& status) {
  if (!stream.failure().ok()) return;
  log_error({"engine", stream.core().name}, "failed: {}", status.message());
  stream.set_failed(status);
  end_stream(stream, shm::kWriterFailed, shm::kNoticeFailed, status);
}

void StreamRegistry::end_stream(Stream& stream, shm::WriterState state, shm::NoticeKind kind,
                                const Status& status) {
  notify(stream.stop(state), kind, status);
}

void StreamRegistry::notify(const std::vector<std::uint64_t>& connections, shm::NoticeKind kind,
                            const Status& status) {
  std::lock_guard lock(notify_mutex_);
  if (!notify_) return;
  for (const std::uint64_t connection : connections) notify_(connection, kind, status);
}

void StreamRegistry::set_notify(NotifyFunction notify) {
  std::lock_guard lock(notify_mutex_);
  notify_ = std::move(notify);
}

void StreamRegistry::attach(std::uint64_t connection, const shm::AttachRequest& request,
                            const Peer& peer, ReplyFunction reply) {
  event_loop_->post([this, connection, request, peer, reply = std::move(reply)] {
    do_attach(connection, request, peer, reply);
  });
}

void StreamRegistry::do_attach(std::uint64_t connection, const shm::AttachRequest& request,
                               const Peer& peer, const ReplyFunction& reply) {
  std::lock_guard lock(mutex_);
  if (draining_) {
    reply(Status(Code::kUnavailable, "the daemon is going down"));
    return;
  }
  const Result<Stream*> stream = find_for(peer, std::string(shm::text(request.stream)));
  if (!stream.ok()) {
    reply(stream.status());
  } else {
    stream.value()->attach(connection, request, peer, reply, monotonic_ns());
  }
}

void StreamRegistry::withdraw(std::uint64_t connection) {
  event_loop_->post([this, connection] { do_withdraw(connection); });
}

void StreamRegistry::do_withdraw(std::uint64_t connection) {
  std::lock_guard lock(mutex_);
  for (const auto& [name, stream] : streams_) {
    if (stream->withdraw(connection)) return;
  }
}

void StreamRegistry::tick() {
  std::lock_guard lock(mutex_);
  const std::uint64_t now_ns = monotonic_ns();
  for (const auto& [name, stream] : streams_) {
    for (const TrainerNotice& telling : stream->tick(now_ns)) {
      notify({telling.connection}, telling.kind, telling.status);
    }
  }
  keep_roster();
  ++rounds_;
}

// Those that leave while the daemon goes down will come to the next one.
void StreamRegistry::keep_roster() {
  bool changed = std::exchange(roster_changed_, false);
  for (const auto& [name, stream] : streams_) changed |= stream->trainers_changed();
  if (!changed || draining_) return;
  std::set<std::string> names;
  std::vector<Trainer> trainers;
  for (const auto& [name, stream] : streams_) {
    names.insert(name);
    const std::vector<Trainer> here = stream->trainers();
    trainers.insert(trainers.end(), here.begin(), here.end());
  }
  attached_trainers_file_.keep(names, std::move(trainers));
}

Result<std::vector<FactorStart>> StreamRegistry::set_echo(const std::string& name,
                                                          std::uint32_t factor) {
  std::lock_guard lock(mutex_);
  ECHOLINE_ASSIGN(Stream * stream, find(name));
  return stream->set_echo(factor);
}

EngineStats StreamRegistry::stats() const {
  std::lock_guard lock(mutex_);
  EngineStats stats;
  for (const auto& [name, early] : opening_) {
    StreamStats& opening = stats.streams.emplace_back();
    opening.name = name;
    opening.state = "opening";
    opening.verdict = verdict(opening);
  }
  for (const auto& [name, stream] : streams_) stats.streams.push_back(stream->stats());
  stats.memory_budget = budget_.budget_bytes();
  stats.memory_reserved = budget_.reserved_bytes();
  stats.workers = static_cast<std::uint32_t>(pool_.worker_count());
  stats.tasks_queued = pool_.queued();
  stats.rounds = rounds_;
  return stats;
}

Result<v1::Stream> StreamRegistry::definition(const std::string& name) const {
  std::lock_guard lock(mutex_);
  ECHOLINE_ASSIGN(const Stream* stream, find(name));
  return stream->definition();
}

Result<std::map<std::string, std::string>> StreamRegistry::states(const std::string& name) const {
  std::lock_guard lock(mutex_);
  ECHOLINE_ASSIGN(const Stream* stream, find(name));
  return stream->states();
}

Result<std::vector<std::string>> StreamRegistry::keys(
    const std::string& name, const std::vector<std::uint64_t>& samples) const {
  std::lock_guard lock(mutex_);
  ECHOLINE_ASSIGN(const Stream* stream, find(name));
  const record::Index& index = stream->core().data_set->index();
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

Result<std::vector<SampleUse>> StreamRegistry::step(const std::string& name, std::uint32_t epoch,
                                                    std::uint64_t step,
                                                    std::uint32_t batch_size) const {
  std::lock_guard lock(mutex_);
  ECHOLINE_ASSIGN(const Stream* stream, find(name));
  ECHOLINE_ASSIGN(const std::vector<plan::RowUse> rows,
                  plan::rows_of_step(*stream->core().plan, epoch, step, batch_size));
  std::vector<SampleUse> uses;
  for (const plan::RowUse& row : rows) uses.push_back({row.record, row.use});
  return uses;
}

void StreamRegistry::drain(std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  std::vector<std::uint64_t> readers;
  {
    std::lock_guard lock(mutex_);
    draining_ = true;
    for (const auto& [name, stream] : streams_) {
      const auto stopped = stream->stop(shm::kWriterEnded);
      readers.insert(readers.end(), stopped.begin(), stopped.end());
    }
  }
  notify(readers, shm::kNoticeDraining, Status(Code::kUnavailable, "the daemon is going down"));
  const auto all_drained = [this] {
    std::lock_guard lock(mutex_);
    for (const auto& [name, stream] : streams_) {
      if (!stream->drained()) return false;
    }
    return true;
  };
  while (!all_drained() && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(kDrainPoll);
  }
}

}  // namespace echoline::engine
