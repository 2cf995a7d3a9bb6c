#include "engine/stream/stall_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/pluralize.h"
#include "base/shown_address.h"
#include "engine/stats/stall_text.h"
#include "engine/stats/verdict.h"
#include "user_code/workers.h"

namespace echoline::engine {
namespace {

// Descriptors that this reader has not released. Its claim is older than `published`.
std::uint64_t held_slots(const StreamCore& core, ring::Ring& ring, std::uint64_t released) {
  const std::uint64_t published = ring.published();
  return std::min<std::uint64_t>(published - std::min(published, released), core.slots);
}

// Functions of users that did not return in time; empty: none.
std::string late_functions(const StreamCore& core) {
  std::string text;
  for (const user_code::Workers* workers : core.preparer->chain().user_code()) {
    const std::uint64_t late = workers->counters().timed_out.load();
    if (late == 0) continue;
    const user_code::Function& function = workers->function();
    text += fmt::format("; {} of {}: {} so far took longer than its timeout of {} s", function.name,
                        std::filesystem::path(function.file).filename().string(),
                        pluralize(late, "call"), static_cast<double>(function.timeout_ns) / 1e9);
  }
  return text;
}

template <typename T, typename Less>
void keep_first(std::vector<T>& all, std::size_t count, Less less) {
  std::stable_sort(all.begin(), all.end(), less);
  if (all.size() > count) all.resize(count);
}

}  // namespace

SlotCounts count_slots(const StreamCore& core, const PassSet& passes) {
  SlotCounts counts;
  for (const PassSet::Member& member : passes.members()) {
    ring::Ring& ring = member.pass->ring();
    // In this order: a batch that is released in between was published before.
    const std::uint64_t released = ring.released();
    const std::uint64_t published = ring.published() - released;
    const std::uint64_t filling = member.pass->slots_filling();
    counts.published += published;
    counts.filling += filling;
    // Of the live batches: slots of the window of batch echo are not counted.
    // Published and filling are read one after the other, so the sum can be too large for a moment.
    counts.free += core.slots - std::min<std::uint64_t>(core.slots, published + filling);
  }
  return counts;
}

void StallWatch::tick(std::uint64_t now_ns, std::vector<TrainerNotice>& notices) {
  // Those that wait for something else come first: a stopped trainer says nothing about them.
  std::pair<bool, std::uint64_t> most{false, 0};
  const Consumer* longest = nullptr;
  for (const Consumer& consumer : consumers_.all()) {
    const std::uint64_t ns = consumer.present_wait.waited_ns(now_ns);
    const std::pair one{!consumer.pass->hold_up().is_own(consumer.released), ns};
    if (ns == 0 || one <= most) continue;
    most = one;
    longest = &consumer;
  }
  const WaitCause cause = longest == nullptr
                              ? WaitCause::kFetch
                              : longest->pass->hold_up().of_reader(longest->released);
  const std::list<Consumer>& all = consumers_.all();
  const bool here = std::any_of(all.begin(), all.end(), [this](const Consumer& consumer) {
    return consumer.connection == longest_;
  });
  const StallLog::Note note = log_.note(most.second, cause, here, now_ns);
  longest_ = longest == nullptr ? 0 : longest->connection;
  if (note.text.empty()) return;
  const LogOrigin origin{"engine", core_.name};
  log_warning(origin, "{}", note.text);
  if (!note.begins) return;
  for (const std::string& line : report(now_ns).lines) log_warning(origin, "  {}", line);
  notify_waiting(now_ns, notices);
}

void StallWatch::notify_waiting(std::uint64_t now_ns, std::vector<TrainerNotice>& notices) const {
  const std::string functions = late_functions(core_);
  for (const Consumer& consumer : consumers_.all()) {
    const std::uint64_t ns = consumer.present_wait.waited_ns(now_ns);
    if (ns < core_.stall_report_ns) continue;
    const std::string_view limit = limit_of(consumer.pass->hold_up().of_reader(consumer.released));
    notices.push_back(
        {consumer.connection, shm::kNoticeText,
         Status(Code::kUnavailable, fmt::format("no batch for {} s; the limit is: {}{}",
                                                ns / 1'000'000'000, limit, functions))});
  }
}

StallReport StallWatch::report(std::uint64_t now_ns) const {
  StallReport report;
  add_waits(report, now_ns);
  add_reads(report, now_ns);
  report.workers = core_.pool->worker_count();
  report.workers_busy = core_.pool->running();
  report.chunks_queued = core_.pool->queued();
  const SlotCounts slots = count_slots(core_, passes_);
  report.slots_free = slots.free;
  report.slots_filling = slots.filling;
  report.slots_published = slots.published;
  add_holders(report, now_ns);
  report.lines = stall_lines(report);
  if (passes_.any_held()) {
    report.lines.push_back(
        "hosts: no batch is planned until the hosts of the job agree about a change "
        "(daemon.etcd)");
  }
  return report;
}

void StallWatch::add_waits(StallReport& report, std::uint64_t now_ns) const {
  for (const Consumer& consumer : consumers_.all()) {
    const std::uint64_t ns = consumer.present_wait.waited_ns(now_ns);
    if (ns == 0) continue;
    report.waits.push_back(
        {.job = consumer.job.name,
         .rank = consumer.rank,
         .pid = consumer.peer.pid,
         .limit = limit_of(consumer.pass->hold_up().of_reader(consumer.released)),
         .waited_ns = ns});
  }
  report.waiting = report.waits.size();
  keep_first(report.waits, kStallWaitsMax,
             [](const auto& a, const auto& b) { return a.waited_ns > b.waited_ns; });
}

void StallWatch::add_reads(StallReport& report, std::uint64_t now_ns) const {
  ReadsInFlight::View view = core_.fetchers->reads(kStallReadsMax, now_ns);
  report.in_flight = view.count;
  report.store_pause = std::move(view.pause_error);
  report.records_awaited = core_.fetchers->counters().waiting;
  for (const ReadInFlight& read : view.oldest) {
    report.reads.push_back(
        {.address = shown_address(core_.data_set->index().shard(read.shard).object.url),
         .offset = read.offset,
         .bytes = read.bytes,
         .records = read.records,
         .age_ns = now_ns - std::min(now_ns, read.begin_ns)});
  }
}

void StallWatch::add_holders(StallReport& report, std::uint64_t now_ns) const {
  for (const Consumer& consumer : consumers_.all()) {
    ring::Ring& ring = consumer.pass->ring();
    const std::uint64_t released = ring.view(consumer.reader).released;
    report.holders.push_back({.job = consumer.job.name,
                              .rank = consumer.rank,
                              .pid = consumer.peer.pid,
                              .slots = held_slots(core_, ring, released),
                              .still_ns = now_ns - std::min(now_ns, consumer.released_since_ns)});
  }
  for (const PendingRanks::Place& place : pending_ranks_.places()) {
    ring::Ring& ring = place.pass->ring();
    const std::uint64_t released = ring.view(place.reader).released;
    report.holders.push_back(
        {.job = place.job, .awaited = true, .slots = held_slots(core_, ring, released)});
  }
  std::erase_if(report.holders, [](const auto& holder) { return holder.slots == 0; });
  report.all_holders = report.holders.size();
  keep_first(report.holders, kStallHoldersMax, [](const auto& a, const auto& b) {
    return std::pair(a.slots, a.still_ns) > std::pair(b.slots, b.still_ns);
  });
}

}  // namespace echoline::engine
