#include "engine/fetch/fetch_trace.h"

#include <algorithm>
#include <array>

#include "base/clock.h"

namespace echoline::engine {
namespace {

using trace::Group;
using trace::Kind;

// What the thread waits for, by FetchWork.
constexpr std::array<const char*, 6> kCauses = {"store", "servers", "disk",
                                                "fleet", "pause",   "nothing requested"};

}  // namespace

void FetchTrace::add_wait(FetchWork work, std::uint64_t begin_ns, std::uint64_t end_ns) const {
  recorder_->add({.kind = Kind::kWait,
                  .group = Group::kFetch,
                  .track = source_,
                  .begin_ns = begin_ns,
                  .end_ns = end_ns,
                  .cause = kCauses.at(static_cast<std::size_t>(work))});
}

void FetchTrace::add_look_up(Kind kind, std::uint64_t record, bool hit,
                             std::uint64_t begin_ns) const {
  recorder_->add({.kind = kind,
                  .group = Group::kFetch,
                  .track = source_,
                  .begin_ns = begin_ns,
                  .end_ns = monotonic_ns(),
                  .values = {record, hit}});
}

void FetchTrace::add_idle(std::uint32_t thread, std::uint64_t begin_ns) const {
  recorder_->add({.kind = Kind::kWait,
                  .group = Group::kCaches,
                  .track = thread,
                  .begin_ns = begin_ns,
                  .end_ns = monotonic_ns(),
                  .cause = "nothing to look up"});
}

void FetchTrace::add_disk_look_up(std::uint32_t thread, const FetchRequest& request, bool hit,
                                  std::uint64_t begin_ns) const {
  recorder_->add({.kind = Kind::kDiskLookUp,
                  .group = Group::kCaches,
                  .track = thread,
                  .begin_ns = begin_ns,
                  .end_ns = monotonic_ns(),
                  .values = {request.record, hit, request.extent.bytes}});
}

void FetchTrace::add_fleet_look_up(std::uint32_t thread, std::span<const cache::FleetQuery> queries,
                                   std::uint64_t begin_ns) const {
  const auto hits = std::count_if(queries.begin(), queries.end(),
                                  [](const cache::FleetQuery& query) { return query.hit; });
  recorder_->add({.kind = Kind::kFleetLookUp,
                  .group = Group::kCaches,
                  .track = thread,
                  .begin_ns = begin_ns,
                  .end_ns = monotonic_ns(),
                  .values = {queries.size(), static_cast<std::uint64_t>(hits)}});
}

void FetchTrace::add_read(const ReadInFlight& read, bool ok, std::uint64_t end_ns) const {
  recorder_->add(span_of(read, true, ok, end_ns));
}

trace::Span span_of(const ReadInFlight& read, bool answered, bool ok, std::uint64_t end_ns) {
  return {.kind = Kind::kRead,
          .group = Group::kReads,
          .begin_ns = read.begin_ns,
          .end_ns = end_ns,
          .values = {read.shard, read.offset, read.bytes, read.records, read.first_record,
                     read.last_record, answered, ok}};
}

}  // namespace echoline::engine
