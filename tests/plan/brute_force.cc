// Slow and simple on purpose, so that its correctness is easy to see.
#include "brute_force.h"

#include <algorithm>

#include "random_spec.h"

namespace echoline::plan::testing {

// Without echo, the rows are all records j of all lanes, sorted by (j / share, lane, j).
std::vector<std::vector<std::uint64_t>> lane_records(const PlanSpec& spec, std::uint32_t epoch) {
  PlanSpec plain = spec;
  plain.echo_point = EchoPoint::kNone;
  plain.factor = 1000;
  plain.last = LastBatch::kPartial;
  const auto plan = Plan::create(plain).value()->epoch(epoch, {});
  const std::uint64_t records = plan->rows();
  struct Key {
    std::uint64_t round, lane, row;
  };
  std::vector<Key> keys;
  for (std::uint64_t lane = 0; lane < spec.lanes; ++lane) {
    const std::uint64_t count = records / spec.lanes + (lane < records % spec.lanes ? 1 : 0);
    for (std::uint64_t j = 0; j < count; ++j) {
      keys.push_back({j / (spec.batch_rows / spec.lanes), lane, j});
    }
  }
  std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
    return std::tie(a.round, a.lane, a.row) < std::tie(b.round, b.lane, b.row);
  });
  std::vector<std::vector<std::uint64_t>> lanes(spec.lanes);
  for (std::uint64_t row = 0; row < records; ++row) {
    lanes[keys[row].lane].push_back(plan->at(row).record);
  }
  return lanes;
}

std::vector<std::uint32_t> uses_of_lane(std::uint64_t lane_begin, std::uint64_t items,
                                        std::uint64_t blocks,
                                        const std::vector<FactorChange>& factors) {
  std::vector<std::uint32_t> uses;
  std::uint64_t sum = lane_begin * factors[0].factor % 1000;
  std::size_t at = 0;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    if (at + 1 < factors.size() && factors[at + 1].block == block) ++at;
    const std::uint64_t size = items / blocks + (block < items % blocks ? 1 : 0);
    for (std::uint64_t i = 0; i < size; ++i) {
      const std::uint64_t before = sum / 1000;
      sum += factors[at].factor;
      uses.push_back(static_cast<std::uint32_t>(sum / 1000 - before));
    }
  }
  return uses;
}

std::map<std::uint64_t, std::uint32_t> uses_of_epoch(const PlanSpec& spec, std::uint32_t epoch,
                                                     std::uint64_t blocks,
                                                     const std::vector<FactorChange>& factors) {
  std::map<std::uint64_t, std::uint32_t> uses;
  std::uint64_t begin = 0;
  for (const auto& records : lane_records(spec, epoch)) {
    const auto of_lane = uses_of_lane(begin, records.size(), blocks, factors);
    for (std::size_t i = 0; i < records.size(); ++i) uses[records[i]] = of_lane[i];
    begin += records.size();
  }
  return uses;
}

std::uint64_t most_kept(const std::vector<RowUse>& rows, std::uint64_t first_row) {
  std::map<std::uint64_t, std::uint32_t> held;
  std::uint64_t most = 0;
  for (std::uint64_t row = first_row; row < rows.size(); ++row) {
    if (rows[row].use + 1 < rows[row].uses) {
      held[rows[row].record] = rows[row].use;
    } else {
      held.erase(rows[row].record);
    }
    most = std::max<std::uint64_t>(most, held.size());
  }
  return most;
}

}  // namespace echoline::plan::testing
