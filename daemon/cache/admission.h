// Which records each level keeps, fixed by a hash before the first one comes: nothing is evicted,
// hits are spread evenly over the epoch, and every host decides alike.
#pragma once

#include <cstdint>
#include <functional>

namespace echoline::cache {

// What the choice needs to know of a record.
struct RecordPlace {
  std::uint32_t shard = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

struct DataSetSize {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::function<RecordPlace(std::uint64_t)> place_of;  // any thread
};

// Bytes, of which each record takes its own and so many more.
struct Capacity {
  std::uint64_t bytes = 0;
  std::uint64_t record_overhead = 0;
};

struct Capacities {
  Capacity memory{};
  Capacity disk{};
  Capacity fleet{};
};

// Records stand in a fixed order of hashes. Memory keeps the first of them, as many as fit, disk
// the next, the fleet the next after those; a level whose end is past the last record goes on with
// the first. So levels hold different records until everything is held once.
//
// The hash is that of the record's block, a run of neighbours of at most 256 KiB: what is not kept
// then stands together in its shard, and is read in few requests. Within the one block that fits
// only in part, the records' own hashes decide. Immutable; any thread.
class Admission {
 public:
  Admission(const DataSetSize& data, const Capacities& capacities);

  bool in_memory(std::uint64_t record) const { return memory_.holds(rank(record)); }
  bool on_disk(std::uint64_t record) const { return disk_.holds(rank(record)); }
  bool in_fleet(std::uint64_t record) const { return fleet_.holds(rank(record)); }

 private:
  // Of a circle of 2^64 ranks.
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t length = 0;
    bool all = false;
    bool holds(std::uint64_t rank) const { return all || rank - begin < length; }
    std::uint64_t end() const { return begin + length; }
  };

  std::uint64_t rank(std::uint64_t record) const;
  Range range_after(const Range& before, const Capacity& capacity) const;

  DataSetSize data_;
  std::uint64_t block_bytes_;
  Range memory_;
  Range disk_;
  Range fleet_;
};

}  // namespace echoline::cache
