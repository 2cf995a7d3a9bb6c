// Each source in turn takes its share of the rows that those before it have left. So after any
// number of rows, each has had its share to within as many rows as there are sources.
#include "plan/mix_rows.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "plan/interleave.h"

namespace echoline::plan {
namespace {

using Weights = std::vector<std::uint32_t>;
using Counts = std::vector<std::uint64_t>;

std::uint64_t sum(const Weights& weights) {
  return std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
}

// Of the first `rows` rows, those of each source.
Counts counts_of(const Weights& weights, std::uint64_t rows) {
  Counts counts;
  std::uint64_t all = sum(weights);
  for (const std::uint32_t weight : weights) {
    const std::uint64_t taken = all == 0 ? 0 : multiply_divide(rows, weight, all).whole;
    counts.push_back(taken);
    rows -= taken;
    all -= weight;
  }
  return counts;
}

bool fits(const Counts& counts, const Counts& left) {
  return std::ranges::equal(counts, left, std::ranges::less_equal());
}

// The most rows for which the records that are left are enough. Counts never fall when rows are
// added, so a binary search finds it.
std::uint64_t longest(const Weights& weights, const Counts& left) {
  std::uint64_t fitting = 0;
  std::uint64_t too_many = std::accumulate(left.begin(), left.end(), std::uint64_t{1});
  while (too_many - fitting > 1) {
    const std::uint64_t middle = fitting + (too_many - fitting) / 2;
    (fits(counts_of(weights, middle), left) ? fitting : too_many) = middle;
  }
  return fitting;
}

Counts difference(const Counts& all, const Counts& taken) {
  Counts left(all.size());
  std::ranges::transform(all, taken, left.begin(), std::minus());
  return left;
}

}  // namespace

std::vector<std::uint64_t> source_sizes(const PlanSpec& spec) {
  std::vector<std::uint64_t> sizes;
  auto shard = spec.shard_records.begin();
  for (const std::uint64_t shards : spec.mix->shards) {
    const auto end = shard + static_cast<std::ptrdiff_t>(shards);
    sizes.push_back(std::accumulate(shard, end, std::uint64_t{0}));
    shard = end;
  }
  return sizes;
}

MixRows::MixRows(const MixSpec& mix, const std::vector<std::uint64_t>& records,
                 std::span<const WeightChange> changes)
    : taken_(records.size()) {
  const auto mix_up_to = [&](const Weights& weights, std::uint64_t end) {
    switch (mix.at_end) {
      case MixEnd::kStop:
        return add_part(weights, longest(weights, records));
      case MixEnd::kDrop:
        return mix_while_any_has_records(weights, records, end);
      case MixEnd::kRepeat:
        return add_part(weights, std::min(end, mix.rows) - rows_);
    }
  };
  const Weights* weights = &mix.weights;
  for (const WeightChange& change : changes) {
    mix_up_to(*weights, change.row);
    weights = &change.weights;
  }
  mix_up_to(*weights, std::numeric_limits<std::uint64_t>::max());
}

void MixRows::add_part(const Weights& weights, std::uint64_t rows) {
  if (rows == 0) return;
  parts_.push_back({.begin = rows_, .weights = weights, .before = taken_});
  rows_ += rows;
  std::ranges::transform(taken_, counts_of(weights, rows), taken_.begin(), std::plus());
}

void MixRows::mix_while_any_has_records(Weights weights, const Counts& records, std::uint64_t end) {
  // Sources can have ended under earlier weights.
  for (std::size_t source = 0; source < weights.size(); ++source) {
    if (taken_[source] == records[source]) weights[source] = 0;
  }
  while (sum(weights) > 0) {
    const Counts left = difference(records, taken_);
    const std::uint64_t rows = longest(weights, left);
    add_part(weights, std::min(rows, end - rows_));
    if (rows_ == end) return;
    // At least one source cannot have the next row.
    const Counts wanted = counts_of(weights, rows + 1);
    for (std::size_t source = 0; source < weights.size(); ++source) {
      if (wanted[source] > left[source]) weights[source] = 0;
    }
  }
}

MixRows::Place MixRows::at(std::uint64_t row) const {
  ECHOLINE_CHECK(row < rows_);
  const Part& part = *std::prev(std::ranges::upper_bound(parts_, row, {}, &Part::begin));
  std::uint64_t place = row - part.begin;
  std::uint64_t all = sum(part.weights);
  for (std::size_t source = 0;; ++source) {
    const Taken taken = taken_evenly(place, part.weights[source], all);
    // The last source with a weight has all rows that are left, so the loop ends there.
    if (taken.here) return {source, part.before[source] + taken.before};
    place -= taken.before;
    all -= part.weights[source];
  }
}

}  // namespace echoline::plan
