// The cache of one stream: its levels, which record each one keeps, and their statistics.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/status.h"
#include "cache/admission.h"
#include "cache/disk_cache.h"
#include "cache/fleet_cache.h"
#include "cache/level_stats.h"
#include "cache/memory_cache.h"

namespace echoline::cache {

enum class Level : std::uint8_t { kMemory, kDisk, kFleet };
inline constexpr std::array<const char*, 3> kLevelNames = {"memory", "disk", "fleet"};

// Counters of one level. Each lookup of a record counts as a hit of the level that had it and as a
// miss of the levels before; or as a miss of all levels.
struct LevelCounters {
  std::atomic<std::uint64_t> hits{0};
  std::atomic<std::uint64_t> misses{0};
  std::atomic<std::uint64_t> hit_bytes{0};
  std::atomic<std::uint64_t> saved_ns{0};
};

// Any thread may call any method. The comments say which methods block.
class Levels {
 public:
  struct Options {
    DataSetSize data;
    std::uint64_t memory_bytes = 0;  // 0: no such level
    std::string disk_path;
    std::uint64_t disk_bytes = 0;
    std::string disk_set;
    std::vector<std::string> fleet;
    std::uint64_t pending_bytes_max = 32 << 20;
    std::function<RecordKey(std::uint64_t)>
        key_of;  // any thread; not called if there is only a memory level
  };
  // Blocks on disk and servers. A full disk or dead servers are not errors.
  static Result<std::unique_ptr<Levels>> open(Options options);

  bool has_disk() const { return disk_ != nullptr; }
  bool has_fleet() const { return fleet_ != nullptr; }
  // Whether a level of this host keeps the record after it has arrived.
  bool keeps(std::uint64_t record) const;

  std::shared_ptr<const Buffer> find_in_memory(std::uint64_t record) const;
  bool holds_on_disk(std::uint64_t record, std::uint64_t bytes) const;
  // Blocks.
  bool read_from_disk(std::uint64_t record, std::span<std::byte> destination);
  bool belongs_to_fleet(std::uint64_t record) const;
  FleetQuery fleet_query(std::uint64_t record, std::span<std::byte> destination) const;
  FleetCache& fleet() { return *fleet_; }

  // Offers a record that came from the given level, or from the store, to the levels of this host.
  // If it came from the store and belongs to the fleet, the caller must also call put_into_fleet.
  void keep(std::uint64_t record, const std::shared_ptr<const Buffer>& bytes,
            std::optional<Level> from);
  // Blocks.
  void put_into_fleet(std::uint64_t record, std::span<const std::byte> bytes);
  bool has_pending() const { return disk_ != nullptr && disk_->has_pending(); }
  // Writes queued values to the disk, or reads what other daemons wrote. Blocks.
  void work_on_disk();
  // When a fetcher that stops gives up what is still pending, which is then not cached: two seconds
  // after the first of them began to stop.
  std::uint64_t end_of_writes_ns(std::uint64_t now_ns);

  void count_hit(Level level, std::uint64_t bytes, std::uint64_t spent_ns);
  void count_miss();  // of all levels
  // The measured time to fetch a byte from the store; 0 while unknown.
  void set_store_cost(double ns_per_byte) { store_ns_per_byte_.store(ns_per_byte); }

  std::uint64_t memory_bytes() const { return memory_ == nullptr ? 0 : memory_->bytes(); }
  std::vector<LevelStats> stats() const;

 private:
  explicit Levels(Options options) : options_(std::move(options)) {}
  // Opens the disk level; goes on without it where that may pass by itself.
  Status open_disk();
  // Whether the stream has this level.
  bool has(Level level) const;
  LevelCounters& counters(Level level) { return counters_[static_cast<std::size_t>(level)]; }
  // The statistics of a level that there is.
  LevelStats stats_of(Level level) const;

  const Options options_;
  std::unique_ptr<Admission> admission_;
  std::unique_ptr<MemoryCache> memory_;
  std::unique_ptr<DiskCache> disk_;
  std::unique_ptr<FleetCache> fleet_;
  std::array<LevelCounters, 3> counters_;
  std::atomic<double> store_ns_per_byte_{0};
  std::atomic<std::uint64_t> end_of_writes_ns_{0};  // 0: none stops
};

}  // namespace echoline::cache
