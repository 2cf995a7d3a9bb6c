// The order of the records of a mixture: each source is shuffled by itself, and again for each
// repetition.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/part_starts.h"
#include "plan/mix_rows.h"
#include "plan/order_lists.h"
#include "plan/plan_spec.h"
#include "plan/shuffle_order.h"

namespace echoline::plan {

// What all epochs of a mixture share. Immutable; any thread may call it.
class Mixture {
 public:
  explicit Mixture(const PlanSpec& spec);

  const MixRows& rows() const { return rows_; }
  std::size_t source_count() const { return sources_.size(); }
  const Shuffled& source(std::size_t source) const { return sources_[source]; }
  std::uint64_t first_record(std::size_t source) const { return records_.of(source); }
  std::uint64_t records(std::size_t source) const { return records_.count(source); }
  // The source that has this record.
  std::size_t source_of(std::uint64_t record) const { return records_.part_of(record); }

 private:
  std::vector<Shuffled> sources_;  // each as a stream without lanes
  PartStarts records_;
  MixRows rows_;
};

// One epoch. Immutable; any thread may call it. The mixture must outlive it.
class MixOrder {
 public:
  // A cache for one walk: of each source, the walk through its present repetition.
  struct Memory {
    struct Walk {
      std::uint64_t repetition = 0;
      ShuffleOrder::Memory memory;
    };
    std::vector<Walk> walks;  // by source; empty before the first row
  };

  // `weights`: their changes in this epoch.
  MixOrder(const Mixture& mixture, const PlanSpec& spec, std::uint32_t epoch,
           std::span<const WeightChange> weights);

  // The record of a row without echo.
  ListEntry entry(std::uint64_t row, Memory& memory) const;

 private:
  // How often the epoch begins this source; 0 where its share is too small for a row.
  std::uint64_t repetitions(std::size_t source) const;

  const Mixture& mixture_;
  MixRows rows_;
  std::vector<std::vector<ShuffleOrder>> orders_;  // by source and repetition
};

}  // namespace echoline::plan
