// Which source of a mixture a row of an epoch belongs to: a formula of weights and sizes,
// O(sources) for any row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan_spec.h"

namespace echoline::plan {

// The records of each source of a spec with a mixture.
std::vector<std::uint64_t> source_sizes(const PlanSpec& spec);

// Immutable; any thread may call it.
class MixRows {
 public:
  // The `index`-th record that the epoch takes from a source. Beyond the source's number of records
  // it begins again.
  struct Place {
    std::size_t source = 0;
    std::uint64_t index = 0;
  };

  // `records` are those of each source. `changes` have passed check_weights (mix_check.h).
  MixRows(const MixSpec& mix, const std::vector<std::uint64_t>& records,
          std::span<const WeightChange> changes = {});

  // Of an epoch.
  std::uint64_t rows() const { return rows_; }
  // Rows of an epoch by source.
  const std::vector<std::uint64_t>& taken() const { return taken_; }
  // `row` is below rows().
  Place at(std::uint64_t row) const;

 private:
  // Rows from `begin` on, with the same sources. A source that has ended has weight 0.
  struct Part {
    std::uint64_t begin = 0;
    std::vector<std::uint32_t> weights;
    std::vector<std::uint64_t> before;  // rows of each source in earlier parts
  };

  // Adds a part of this length, which begins at rows_; none of no rows.
  void add_part(const std::vector<std::uint32_t>& weights, std::uint64_t rows);
  // Removes the sources that have no record for the next row, and mixes the others, until all have
  // ended, or up to row `end`.
  void mix_while_any_has_records(std::vector<std::uint32_t> weights,
                                 const std::vector<std::uint64_t>& records, std::uint64_t end);

  std::uint64_t rows_ = 0;
  std::vector<std::uint64_t> taken_;
  std::vector<Part> parts_;
};

}  // namespace echoline::plan
