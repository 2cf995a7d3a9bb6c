// The data set of a simulation: records in shards that exist nowhere, and the source that serves
// them with delays and faults in simulated time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plan/random_spec.h"
#include "record/core/data_set.h"
#include "source/core/source.h"

namespace echoline::simulation {

using Dice = plan::testing::Dice;

// Bytes of a record's field: its number, repeated.
inline constexpr std::size_t kFieldBytes = 16;
void write_field(std::uint64_t record, std::byte* out);
// The other bytes of a record, at most kRestBytesMax, are all this.
inline constexpr std::size_t kRestBytesMax = 200;
inline std::byte rest_of(std::uint64_t record) { return static_cast<std::byte>(record); }

class SimIndex : public record::Index {
 public:
  SimIndex(Dice& dice, const std::vector<std::uint64_t>& shard_records, bool with_checksums);
  std::uint64_t record_count() const override { return extents_.size(); }
  std::size_t shard_count() const override { return shards_.size(); }
  record::Shard shard(std::size_t place) const override { return shards_[place]; }
  record::Extent extent(std::uint64_t record) const override { return extents_[record]; }
  std::string key(std::uint64_t record) const override { return std::to_string(record); }
  std::uint32_t checksum(std::uint64_t record) const override;
  std::uint64_t record_bytes_max() const override { return bytes_max_; }
  std::uint64_t record_bytes_total() const override { return bytes_total_; }
  bool has_checksums() const { return !checksums_.empty(); }
  // The bytes of a shard from `offset` on.
  void read(std::uint32_t shard, std::uint64_t offset, std::span<std::byte> out) const;

 private:
  std::vector<record::Shard> shards_;
  std::vector<std::vector<std::byte>> shard_bytes_;
  std::vector<record::Extent> extents_;
  std::vector<std::uint32_t> checksums_;
  std::uint64_t bytes_max_ = 0;
  std::uint64_t bytes_total_ = 0;
};

// Fields "data", and "rest", which has any length. Bad records have "data" of the wrong length.
class SimDataSet : public record::DataSet {
 public:
  SimDataSet(Dice& dice, const std::vector<std::uint64_t>& shard_records, bool with_checksums,
             std::vector<bool> bad)
      : index_(dice, shard_records, with_checksums), bad_(std::move(bad)) {}
  const SimIndex& index() const override { return index_; }
  std::string_view format() const override { return "simulated"; }
  Status cut(std::uint64_t record, std::span<const std::byte> bytes,
             record::Fields& fields) const override;
  bool is_bad(std::uint64_t record) const { return bad_[record]; }

 private:
  SimIndex index_;
  const std::vector<bool> bad_;
};

// What goes wrong at the store. Few answers are wrong in all: four in a row for one record would
// rightly fail the stream.
struct Faults {
  std::uint64_t unavailable = 0;  // percent of the requests
  std::uint64_t flips_left = 0;   // answers with a wrong byte
  std::uint64_t late = 0;         // percent of the requests
};

class SimSource : public source::Source {
 public:
  SimSource(Dice& dice, const SimIndex& index, std::size_t slots, Faults& faults,
            std::uint64_t& failures)
      : dice_(dice), index_(index), slots_(slots), faults_(faults), failures_(failures) {}
  Result<std::vector<source::ObjectInfo>> list(const std::string&) override {
    return std::vector<source::ObjectInfo>();
  }
  Status put(const std::string&, const std::string&) override { return {}; }
  void submit(source::ReadRequest request) override;
  std::size_t slots_free() const override { return slots_ - flights_.size(); }
  // Never blocks: what is due is done.
  void poll(std::uint64_t deadline_ns, std::vector<source::ReadResult>& done) override;
  void wake() override {}
  source::Counters counters() const override { return {}; }

 private:
  struct Flight {
    source::ReadRequest request;
    std::uint64_t due_ns;
  };
  Status answer(const source::ReadRequest& request);

  Dice& dice_;
  const SimIndex& index_;
  const std::size_t slots_;
  Faults& faults_;
  std::uint64_t& failures_;
  std::vector<Flight> flights_;
};

}  // namespace echoline::simulation
