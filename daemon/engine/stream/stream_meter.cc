#include "engine/stream/stream_meter.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/account.h"
#include "base/shown_address.h"
#include "engine/open/open_cache.h"
#include "engine/stats/stall_text.h"

namespace echoline::engine {
namespace {

std::uint64_t row_of(const Consumer& consumer, plan::Position position) {
  return consumer.pass->factors().absolute_row(position);
}

// Where the bytes are that trainers wait for.
FetchPlace place_of(FetchWork work) {
  if (work == FetchWork::kAtStore) return FetchPlace::kStore;
  if (work == FetchWork::kAtServers) return FetchPlace::kServers;
  if (work == FetchWork::kAtFleet) return FetchPlace::kFleet;
  return work == FetchWork::kAtDisk ? FetchPlace::kDisk : FetchPlace::kPause;
}

// Notes the trainer if it is the slowest one of its pass so far.
void see_slowest(const Consumer& consumer, const ring::ReaderView& view,
                 std::vector<SlowestTrainer>& passes) {
  // It is told to leave the pass, which no longer waits for it.
  if (consumer.moving) return;
  const bool waits = view.waiting_since_ns != 0;
  const void* const pass = consumer.pass.get();
  const auto of_pass = std::ranges::find(passes, pass, &SlowestTrainer::pass);
  if (of_pass == passes.end()) {
    passes.push_back({pass, 1, view.released, waits});
    return;
  }
  ++of_pass->trainers;
  if (view.released > of_pass->released) return;
  // Of several that are equally slow, one that works shows that the daemon is not the limit.
  of_pass->waits = waits && (view.released < of_pass->released || of_pass->waits);
  of_pass->released = view.released;
}

}  // namespace

void StreamMeter::begin(Consumer& consumer, bool reattaches) {
  const DetachedCounters::Kept kept =
      // Counters of an earlier attachment continue, as Prometheus expects of a counter.
      detached_.take(consumer.job, consumer.rank, consumer.attached_ns);
  consumer.before = kept.counters;
  // A trainer that was moved waited for a slower job; any other one that comes back
  // had been attached to an earlier daemon.
  const bool moved = reattaches && kept.moving;
  consumer.waits = WaitLedger(consumer.attached_ns, moved ? WaitCause::kPeer : WaitCause::kDaemon);
}

void StreamMeter::end(Consumer& consumer, std::uint64_t now_ns) {
  // The last waits are charged before the cursor page is gone.
  const TrainerCounters counters = consumer.counters(charge(consumer, now_ns));
  consumer.wait_spans.end(*core_.recorder);
  for (Consumer& other : consumers_.all()) {
    if (&other == &consumer || other.job != consumer.job || other.rank != consumer.rank) continue;
    // The next attachment came before this one ended.
    other.before = other.before + counters;
    return;
  }
  detached_.keep(consumer.job, consumer.rank, counters, consumer.moving, now_ns);
}

ring::ReaderView StreamMeter::charge(Consumer& consumer, std::uint64_t now_ns) {
  const ring::ReaderView view = consumer.pass->ring().view(consumer.reader);
  if constexpr (kKeepsAccount) charge_waits(consumer, view, now_ns);
  losses_.see(consumer.job.name, view.losses, consumer.losses);
  if (view.released != consumer.released || consumer.released_since_ns == 0) {
    consumer.released = view.released;
    consumer.released_since_ns = now_ns;
  }
  return view;
}

void StreamMeter::charge_waits(Consumer& consumer, const ring::ReaderView& view,
                               std::uint64_t now_ns) {
  // The cause of this moment, for all that was waited since the last look 10 ms ago.
  const WaitCause cause = consumer.pass->hold_up().of_reader(view.released);
  const WaitLedger::Charged charged = consumer.waits.charge(view, now_ns, cause);
  waited_ns_[static_cast<std::size_t>(cause)] += charged.since_look_ns;
  waited_ns_[static_cast<std::size_t>(consumer.waits.away_cause())] += charged.away_ns;
  const char* place_name = nullptr;
  if (cause == WaitCause::kFetch) place_name = charge_fetch(charged.since_look_ns, now_ns);
  trace_wait(consumer, {view, charged.since_look_ns, cause, place_name, now_ns});
  // wait_ns / attached_ns is a share, so the time before the attachment counts in both.
  attached_ns_ += charged.away_ns;
  // More read-ahead helps only against waits for bytes.
  if (view.waiting_since_ns != 0 && cause == WaitCause::kFetch) {
    consumer.pass->note_wait_for_bytes();
  }
  consumer.present_wait.see(view, now_ns);
  consumer.batch_waits.see(view, now_ns);
}

const char* StreamMeter::charge_fetch(std::uint64_t waited_ns, std::uint64_t now_ns) {
  const FetchPlace place = place_of(core_.fetchers->counters().present);
  wait_places_.add_fetch(place, waited_ns);
  if (place == FetchPlace::kStore && waited_ns > 0) {
    // The request that is the oldest one holds up the batches of all others.
    const auto oldest = core_.fetchers->reads(1, now_ns).oldest;
    const auto& index = core_.data_set->index();
    wait_places_.add_store(
        oldest.empty() ? "" : store_of(index.shard(oldest.front().shard).object.url), waited_ns);
  }
  return kFetchPlaceNames[static_cast<std::size_t>(place)];
}

void StreamMeter::trace_wait(Consumer& consumer, const WaitSpans::Look& look) {
  trace::Recorder& recorder = *core_.recorder;
  if (!recorder.on()) return consumer.wait_spans.forget();
  const auto track = static_cast<std::uint32_t>(consumer.connection);
  recorder.name_trainer(track, trainer_text(consumer.job.name, consumer.rank, consumer.peer.pid));
  consumer.wait_spans.see(recorder, track, look);
}

void StreamMeter::trace_unfinished(std::uint64_t now_ns) {
  for (Consumer& consumer : consumers_.all()) {
    charge(consumer, now_ns);
    consumer.wait_spans.end(*core_.recorder);
  }
}

std::vector<std::uint64_t> StreamMeter::tick(std::uint64_t now_ns,
                                             std::vector<TrainerNotice>& notices) {
  std::list<Consumer>& trainers = consumers_.all();
  StageView seen;
  // Each attached trainer could have waited for all of this time.
  if (ticked_ns_ != 0) attached_ns_ += trainers.size() * (now_ns - ticked_ns_);
  ticked_ns_ = now_ns;
  seen.fetch_waits = core_.fetchers->counters().waiting > 0;
  // One that is held up says nothing about the others: nobody may read it any more.
  const auto& members = passes_.members();
  const auto is_held_up = [](const PassSet::Member& member) {
    return member.ended || member.pass->hold_up().by_readers();
  };
  seen.held_up = !std::ranges::all_of(members, &PassSet::Member::ended) &&
                 std::ranges::all_of(members, is_held_up);
  // Removed by the caller: removing changes the list that is walked here.
  std::vector<std::uint64_t> misbehaved;
  for (Consumer& consumer : trainers) {
    const ring::ReaderView view = charge(consumer, now_ns);
    see_slowest(consumer, view, seen.slowest);
    if (view.misbehaved) misbehaved.push_back(consumer.connection);
  }
  if constexpr (!kKeepsAccount) return misbehaved;
  stall_watch_.tick(now_ns, notices);
  stages_.tick(now_ns, seen);
  // Once a second; differences to these notes are the present rates.
  if (rate_window_.due(now_ns)) {
    rate_window_.note(totals(now_ns));
    wait_places_.see_steps(waited_ns_[static_cast<std::size_t>(WaitCause::kPrep)],
                           core_.counters->steps.totals().steps);
  }
  return misbehaved;
}

RecentStats StreamMeter::totals(std::uint64_t now_ns) const {
  const StreamCounters& counters = *core_.counters;
  const source::Counters source = core_.fetchers->source_counters();
  // Not differences yet: totals since the stream's creation, and a clock (rate_window.h).
  RecentStats totals{.passed_ns = now_ns,
                     .samples_fresh = counters.samples_fresh.load(),
                     .samples_echoed = counters.samples_echoed.load(),
                     .batches = counters.batches.load(),
                     .source_bytes = source.bytes,
                     .attached_ns = attached_ns_,
                     .wait_ns = waited_ns_,
                     .source_wait_ns = source.wait_ns,
                     .stages = stages_.stages()};
  // Not a sum: a record that the last level misses has missed all levels before it.
  for (const cache::LevelStats& level : cache_stats(core_)) {
    totals.cache_hits += level.hits;
    totals.cache_misses = level.misses;
  }
  return totals;
}

void StreamMeter::report(StreamStats& stats, std::uint64_t now_ns) const {
  stats.stages = stages_.stages();
  stats.upstream_downstream_ratio = stages_.ratio().ratio();
  wait_places_.report(stats);
  report_passes(stats);
  report_trainers(stats);
  stats.reported_losses = losses_.report();
  stats.recent = rate_window_.until(totals(now_ns));
  stats.stall = stall_watch_.report(now_ns);
}

void StreamMeter::report_passes(StreamStats& stats) const {
  stats.passes = passes_.members().size();
  std::uint64_t& ring_bytes = stats.memory_bytes["ring"];
  for (const PassSet::Member& member : passes_.members()) {
    ring_bytes += member.pass->ring().bytes();
    stats.read_ahead_target_bytes += member.pass->ahead_target_bytes();
  }
  const SlotCounts slots = count_slots(core_, passes_);
  stats.slots_free = slots.free;
  stats.slots_filling = slots.filling;
  stats.slots_published = slots.published;
}

void StreamMeter::report_trainers(StreamStats& stats) const {
  // Lag is measured within a pass: other passes are at other places on purpose.
  std::map<const Pass*, std::uint64_t> foremost_row;
  std::map<const Pass*, std::uint32_t> numbers;
  for (const Consumer& consumer : consumers_.all()) {
    std::uint64_t& row = foremost_row[consumer.pass.get()];
    row = std::max(row, row_of(consumer, consumer.position()));
  }
  for (const Consumer& consumer : consumers_.all()) {
    const ring::ReaderView view = consumer.pass->ring().view(consumer.reader);
    const FactorHistory factors = consumer.pass->factors();
    const std::uint64_t foremost = foremost_row[consumer.pass.get()];
    const std::uint64_t row = factors.absolute_row(view.next);
    const TrainerCounters counters = consumer.counters(view);
    ConsumerStats& trainer = stats.consumers.emplace_back();
    trainer.job = consumer.job.name;
    // Passes are numbered as they are met first.
    trainer.pass = numbers.emplace(consumer.pass.get(), static_cast<std::uint32_t>(numbers.size()))
                       .first->second;
    trainer.rank = consumer.rank;
    trainer.world_size = consumer.job.world_size;
    trainer.batch_size = consumer.job.batch_size;
    trainer.epoch = view.next.epoch;
    trainer.row = view.next.row;
    trainer.batches = counters.batches;
    trainer.lag_rows = foremost - std::min(row, foremost);
    trainer.wait_ns = counters.wait_ns;
    trainer.batch_waits = counters.batch_waits;
    trainer.device = counters.device;
    for (const plan::FactorChange& change : factors.as_of(view.next).list(view.next.epoch)) {
      trainer.changes.emplace_back(change.block, change.factor);
    }
  }
}

}  // namespace echoline::engine
