#include "engine/stats/stall_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/clock.h"
#include "base/pluralize.h"

namespace echoline::engine {
namespace {

std::string seconds_text(std::uint64_t ns) { return fmt::format("{:.1f} s", to_seconds(ns)); }

void add_waits(const StallReport& report, std::vector<std::string>& lines) {
  for (const StallReport::Wait& wait : report.waits) {
    lines.push_back(fmt::format("waits: {}, for {}; the limit is: {}",
                                trainer_text(wait.job, wait.rank, wait.pid),
                                seconds_text(wait.waited_ns), wait.limit));
  }
  if (report.waiting > report.waits.size()) {
    const std::uint64_t more = report.waiting - report.waits.size();
    lines.push_back(fmt::format("waits: {} more", pluralize(more, "trainer")));
  }
}

std::string fetch_text(const StallReport& report) {
  if (!report.store_pause.empty()) {
    return fmt::format("fetch: {} awaited, the store pauses after: {}",
                       pluralize(report.records_awaited, "record"), report.store_pause);
  }
  if (report.records_awaited == 0) return "fetch: nothing is requested";
  return fmt::format("fetch: {} awaited, {} in flight", pluralize(report.records_awaited, "record"),
                     pluralize(report.in_flight, "read"));
}

void add_reads(const StallReport& report, std::vector<std::string>& lines) {
  lines.push_back(fetch_text(report));
  for (const StallReport::Read& read : report.reads) {
    lines.push_back(fmt::format("read: {} from byte {}, {} bytes, {}, {} old", read.address,
                                read.offset, read.bytes, pluralize(read.records, "record"),
                                seconds_text(read.age_ns)));
  }
}

std::string holder_text(const StallReport& report, const StallReport::Holder& holder) {
  const std::string slots = pluralize(holder.slots, "slot");
  if (holder.awaited) {
    return fmt::format("holds: {} kept for job {}, which has not come yet", slots, holder.job);
  }
  const bool has_all = holder.slots == report.slots_published;
  const bool waits =
      has_all && std::ranges::any_of(report.waits, [&](const StallReport::Wait& wait) {
        return wait.job == holder.job && wait.rank == holder.rank && wait.pid == holder.pid;
      });
  return fmt::format(
      "holds: {} has {} and released none for {}{}",
      trainer_text(holder.job, holder.rank, holder.pid), slots, seconds_text(holder.still_ns),
      waits ? "; it waits, too: it is stopped, gets no CPU time, or keeps batches" : "");
}

void add_holders(const StallReport& report, std::vector<std::string>& lines) {
  for (const StallReport::Holder& holder : report.holders) {
    lines.push_back(holder_text(report, holder));
  }
  if (report.all_holders > report.holders.size()) {
    const std::uint64_t more = report.all_holders - report.holders.size();
    lines.push_back(fmt::format("holds: {} more", pluralize(more, "trainer")));
  }
}

}  // namespace

std::string trainer_text(const std::string& job, std::uint32_t rank, std::int64_t pid) {
  const std::string process = pid == 0 ? "" : fmt::format(" (process {})", pid);
  return fmt::format("job {} rank {}{}", job, rank, process);
}

std::vector<std::string> stall_lines(const StallReport& report) {
  std::vector<std::string> lines;
  add_waits(report, lines);
  add_reads(report, lines);
  lines.push_back(fmt::format("prep: {} of {} busy, {} of rows queued", report.workers_busy,
                              pluralize(report.workers, "worker"),
                              pluralize(report.chunks_queued, "chunk")));
  lines.push_back(fmt::format("publish: {} free, {} being filled, {} published",
                              pluralize(report.slots_free, "slot"), report.slots_filling,
                              report.slots_published));
  add_holders(report, lines);
  return lines;
}

}  // namespace echoline::engine
