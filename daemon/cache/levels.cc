#include "cache/levels.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/log.h"

namespace echoline::cache {
namespace {

constexpr std::uint64_t kFleetOverheadBytes = 128;  // memcached's overhead per value
constexpr std::uint64_t kLastWritesNs = 2'000'000'000;

}  // namespace

Result<std::unique_ptr<Levels>> Levels::open(Options options) {
  std::unique_ptr<Levels> levels(new Levels(std::move(options)));
  const Options& own = levels->options_;
  Capacities capacities;
  capacities.memory.bytes = own.memory_bytes;
  if (own.memory_bytes > 0) levels->memory_ = std::make_unique<MemoryCache>(own.memory_bytes);
  // The header of the log counts for the cap, too.
  // An entry in the log counts for the cap, like the value itself.
  capacities.disk = {own.disk_bytes - std::min(own.disk_bytes, kHeaderBytes), kEntryBytes};
  if (!own.fleet.empty()) {
    ECHOLINE_ASSIGN(levels->fleet_, FleetCache::open({.servers = own.fleet}));
    const std::uint64_t capacity = levels->fleet_->capacity_bytes();
    // If no server answers, assume that they are large enough.
    capacities.fleet =
        capacity == 0 ? Capacity{own.data.bytes, 0} : Capacity{capacity, kFleetOverheadBytes};
  }
  // After the capacities are known: the choice is made once, before the first record.
  levels->admission_ = std::make_unique<Admission>(own.data, capacities);
  if (own.disk_bytes > 0) ECHOLINE_TRY(levels->open_disk());
  return levels;
}

Status Levels::open_disk() {
  // Filled only if DiskCache asks, and freed when the disk cache is open.
  const auto locations = std::make_shared<std::unordered_set<Hash128, Hash128Hasher>>();
  const auto is_wanted = [this, locations](const Hash128& location) {
    // Computed at the first question: most starts never ask, and it takes a look at every record.
    if (locations->empty()) {
      for (std::uint64_t record = 0; record < options_.data.records; ++record) {
        if (admission_->on_disk(record)) locations->insert(options_.key_of(record).location);
      }
    }
    return locations->contains(location);
  };
  Result<std::unique_ptr<DiskCache>> disk =
      DiskCache::open({.path = options_.disk_path,
                       .cap_bytes = options_.disk_bytes,
                       .set = options_.disk_set,
                       .wanted_bytes = std::min(options_.disk_bytes, options_.data.bytes),
                       .pending_bytes_max = options_.pending_bytes_max,
                       .is_wanted = is_wanted});
  locations->clear();
  if (disk.ok()) {
    disk_ = std::move(disk).value();
    return {};
  }
  const Code code = disk.status().code();
  // These pass: a full disk, or a lock that another process holds. A wrong path does not.
  if (code != Code::kResourceExhausted && code != Code::kUnavailable) {
    return disk.status().with_context("cache.disk");
  }
  log_warning("cache", "continuing without a disk cache: {}", disk.status().message());
  return {};
}

bool Levels::keeps(std::uint64_t record) const {
  // Without the fleet: another host may keep the record there.
  return (memory_ != nullptr && admission_->in_memory(record)) ||
         (disk_ != nullptr && admission_->on_disk(record));
}

std::shared_ptr<const Buffer> Levels::find_in_memory(std::uint64_t record) const {
  return memory_ == nullptr ? nullptr : memory_->find(record);
}

bool Levels::holds_on_disk(std::uint64_t record, std::uint64_t bytes) const {
  return disk_ != nullptr && disk_->holds(options_.key_of(record), bytes);
}

bool Levels::read_from_disk(std::uint64_t record, std::span<std::byte> destination) {
  return disk_->read(options_.key_of(record), destination) == DiskCache::Read::kHit;
}

bool Levels::belongs_to_fleet(std::uint64_t record) const {
  return fleet_ != nullptr && admission_->in_fleet(record);
}

FleetQuery Levels::fleet_query(std::uint64_t record, std::span<std::byte> destination) const {
  return {.key = options_.key_of(record), .destination = destination};
}

void Levels::keep(std::uint64_t record, const std::shared_ptr<const Buffer>& bytes,
                  std::optional<Level> from) {
  // What came from memory is there already; offering it again changes nothing.
  if (memory_ != nullptr && admission_->in_memory(record)) memory_->offer(record, bytes);
  // What came from the disk is on the disk.
  if (disk_ != nullptr && from != Level::kDisk && admission_->on_disk(record)) {
    disk_->offer(options_.key_of(record), bytes);
  }
}

void Levels::put_into_fleet(std::uint64_t record, std::span<const std::byte> bytes) {
  fleet_->put(options_.key_of(record), bytes);
}

void Levels::work_on_disk() {
  if (disk_ == nullptr) return;
  // Writing comes first; while nothing is queued, other daemons' entries are read.
  if (disk_->has_pending()) {
    disk_->flush();
  } else {
    disk_->refresh();
  }
}

std::uint64_t Levels::end_of_writes_ns(std::uint64_t now_ns) {
  std::uint64_t end_ns = 0;
  if (end_of_writes_ns_.compare_exchange_strong(end_ns, now_ns + kLastWritesNs)) {
    return now_ns + kLastWritesNs;
  }
  return end_ns;
}

bool Levels::has(Level level) const {
  switch (level) {
    case Level::kMemory:
      return memory_ != nullptr;
    case Level::kDisk:
      return disk_ != nullptr;
    case Level::kFleet:
      return fleet_ != nullptr;
  }
  return false;
}

void Levels::count_hit(Level level, std::uint64_t bytes, std::uint64_t spent_ns) {
  // Levels before it were asked and missed.
  for (std::size_t before = 0; before < static_cast<std::size_t>(level); ++before) {
    counters_[before].misses.fetch_add(1, std::memory_order_relaxed);
  }
  LevelCounters& own = counters(level);
  own.hits.fetch_add(1, std::memory_order_relaxed);
  own.hit_bytes.fetch_add(bytes, std::memory_order_relaxed);
  // A slow level can take longer than the store; then a hit saves nothing.
  const auto store_ns =
      static_cast<std::uint64_t>(static_cast<double>(bytes) * store_ns_per_byte_.load());
  if (store_ns > spent_ns) {
    own.saved_ns.fetch_add(store_ns - spent_ns, std::memory_order_relaxed);
  }
}

void Levels::count_miss() {
  for (LevelCounters& level : counters_) level.misses.fetch_add(1, std::memory_order_relaxed);
}

LevelStats Levels::stats_of(Level level) const {
  const LevelCounters& own = counters_[static_cast<std::size_t>(level)];
  LevelStats stats;
  stats.level = kLevelNames[static_cast<std::size_t>(level)];
  stats.hits = own.hits.load(std::memory_order_relaxed);
  stats.misses = own.misses.load(std::memory_order_relaxed);
  stats.hit_bytes = own.hit_bytes.load(std::memory_order_relaxed);
  stats.saved_ns = own.saved_ns.load(std::memory_order_relaxed);
  if (level == Level::kMemory) stats.held_bytes = memory_->bytes();
  if (level == Level::kDisk) {
    const DiskFailures& failures = disk_->failures();
    stats.held_bytes = disk_->bytes();
    stats.failures = {{"corrupt", failures.corrupt.load()},
                      {"full", failures.full.load()},
                      {"dropped", failures.dropped.load()},
                      {"error", failures.error.load()}};
  } else if (level == Level::kFleet) {
    const FleetFailures& failures = fleet_->failures();
    stats.failures = {{"corrupt", failures.corrupt.load()},
                      {"full", failures.full.load()},
                      {"error", failures.error.load()}};
  }
  return stats;
}

std::vector<LevelStats> Levels::stats() const {
  std::vector<LevelStats> all;
  for (const Level level : {Level::kMemory, Level::kDisk, Level::kFleet}) {
    if (has(level)) all.push_back(stats_of(level));
  }
  return all;
}

}  // namespace echoline::cache
