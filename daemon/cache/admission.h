// Which records each cache level keeps. A hash decides before the first record arrives: so nothing
// is evicted, hits are spread evenly over the epoch, and all hosts make the same choice.
#pragma once

#include <cstdint>
#include <functional>

namespace echoline::cache {

// The properties of a record that the choice depends on.
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

// The size of a level; each record needs its own bytes and the overhead.
struct Capacity {
  std::uint64_t bytes = 0;
  std::uint64_t record_overhead = 0;
};

struct Capacities {
  Capacity memory{};
  Capacity disk{};
  Capacity fleet{};
};

// A hash gives the records a fixed order. Memory keeps the first ones, as many as fit; disk keeps
// the next ones; the fleet keeps the ones after that. A level that reaches the last record
// continues with the first. So the levels hold different records until every record is held once.
//
// The hash is that of the record's block, a range of at most 256 KiB in its shard. So records that
// no level keeps are adjacent, and few requests read them. In the one block that fits only partly,
// the records' own hashes decide. Immutable; any thread may call it.
class Admission {
 public:
  Admission(const DataSetSize& data, const Capacities& capacities);

  bool in_memory(std::uint64_t record) const { return memory_.holds(rank(record)); }
  bool on_disk(std::uint64_t record) const { return disk_.holds(rank(record)); }
  bool in_fleet(std::uint64_t record) const { return fleet_.holds(rank(record)); }

 private:
  // A range of the 2^64 ranks; it may wrap around.
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
