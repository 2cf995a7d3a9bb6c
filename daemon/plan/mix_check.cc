#include "plan/mix_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "plan/mix_rows.h"
#include "plan/spec_check.h"

namespace echoline::plan {
namespace {

// The table of a repetition's shards has an entry for each of them.
constexpr std::uint64_t kMixShardsMax = 1 << 22;

Status refusal(std::string why) { return Status(Code::kInvalidArgument, std::move(why)); }

// The most repetitions of a source in an epoch, those of all sources, and their shards.
struct Repetitions {
  std::uint64_t most = 0;
  std::uint64_t all = 0;
  std::uint64_t shards = 0;
};

Repetitions count_repetitions(const PlanSpec& spec, std::span<const WeightChange> changes) {
  const std::vector<std::uint64_t> sizes = source_sizes(spec);
  const MixRows rows(*spec.mix, sizes, changes);
  Repetitions repetitions;
  for (std::size_t source = 0; source < sizes.size(); ++source) {
    const std::uint64_t times = (rows.taken()[source] + sizes[source] - 1) / sizes[source];
    repetitions.most = std::max(repetitions.most, times);
    repetitions.all += times;
    // The limit of `most` keeps the sum of more than it small enough.
    repetitions.shards += std::min(times, kDrawsMax) * spec.mix->shards[source];
  }
  return repetitions;
}

// What an epoch has too many of; empty if it is possible.
std::string too_many(const PlanSpec& spec, std::span<const WeightChange> changes) {
  const Repetitions repetitions = count_repetitions(spec, changes);
  const std::uint64_t most = kDrawsMax / draws_per_item(spec);
  if (repetitions.most > most) {
    return fmt::format(
        "a source comes {} times in one epoch; with echo.max {} at most {} times are possible",
        repetitions.most, thousandths(spec.factor_max), most);
  }
  // Each has an order of its own in memory.
  if (repetitions.all > kDrawsMax) {
    return fmt::format(
        "all sources together come {} times in one epoch; at most {} times are possible",
        repetitions.all, kDrawsMax);
  }
  if (spec.shuffle_window == 0 || spec.scatters_records()) return {};
  if (repetitions.shards <= kMixShardsMax) return {};
  return fmt::format(
      "all repetitions of the sources have {} shards in one epoch; with a shuffle.window at most "
      "{} are possible",
      repetitions.shards, kMixShardsMax);
}

Status refuse_entry(std::size_t index, const std::string& why) {
  return refusal(fmt::format("weights: entry {}: {}", index, why));
}

Status check_one(const MixSpec& mix, const WeightChange& change, std::size_t index) {
  const auto& weights = change.weights;
  if (weights.size() != mix.shards.size()) {
    return refuse_entry(
        index, fmt::format("{} weights for {} sources", weights.size(), mix.shards.size()));
  }
  if (std::ranges::max(weights) > kWeightMax) {
    return refuse_entry(index, "a weight is above " + thousandths(kWeightMax));
  }
  if (mix.at_end == MixEnd::kDrop && std::ranges::min(weights) == 0) {
    return refuse_entry(index,
                        "a weight is 0, and with 'at_end: drop' an epoch has all records of each "
                        "source; give it a small weight, or set 'at_end: repeat'");
  }
  if (std::ranges::max(weights) == 0) {
    return refuse_entry(index, "all weights are 0; at least one source has to give records");
  }
  return {};
}

}  // namespace

Status check_mix(const PlanSpec& spec) {
  if (!spec.mix) return {};
  ECHOLINE_CHECK(spec.order == nullptr && spec.mix->weights.size() == spec.mix->shards.size());
  const std::string what = too_many(spec, {});
  return what.empty() ? Status() : refusal("mix.records: " + what + "; take fewer records");
}

Status check_weights(const PlanSpec& spec, std::span<const WeightChange> changes) {
  if (changes.empty()) return {};
  if (!spec.mix) return refusal("weights: this stream has no step 'mix'");
  if (spec.mix->at_end == MixEnd::kStop) {
    return refusal(
        "weights: with 'at_end: stop' they decide how long an epoch is, so they cannot change; set "
        "'at_end' of the step 'mix' to drop or repeat");
  }
  if (changes.size() > kWeightChangesMax) {
    return refusal(fmt::format("weights: {} changes in one epoch; at most {}", changes.size(),
                               kWeightChangesMax));
  }
  for (std::size_t i = 0; i < changes.size(); ++i) {
    ECHOLINE_TRY(check_one(*spec.mix, changes[i], i));
    if (i > 0 && changes[i].row <= changes[i - 1].row) {
      return refuse_entry(
          i, fmt::format("row {} does not come after that of the entry before", changes[i].row));
    }
  }
  const std::uint64_t rows = MixRows(*spec.mix, source_sizes(spec)).rows();
  if (changes.back().row >= rows) {
    return refuse_entry(changes.size() - 1,
                        fmt::format("row {} of an epoch of {} rows", changes.back().row, rows));
  }
  const std::string what = too_many(spec, changes);
  return what.empty() ? Status() : refusal("weights: " + what);
}

}  // namespace echoline::plan
