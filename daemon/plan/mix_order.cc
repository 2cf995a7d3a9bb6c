#include "plan/mix_order.h"

#include "plan/order_key.h"

namespace echoline::plan {
namespace {

std::vector<Shuffled> shuffled_sources(const PlanSpec& spec) {
  std::vector<Shuffled> sources;
  auto shard = spec.shard_records.begin();
  for (const std::uint64_t shards : spec.mix->shards) {
    const auto end = shard + static_cast<std::ptrdiff_t>(shards);
    sources.push_back(shuffled_of({shard, end}, 1, spec.shuffle_window));
    shard = end;
  }
  return sources;
}

// Each source and repetition has permutations of its own.
std::uint64_t repetition_seed(std::uint64_t seed, std::size_t source, std::uint64_t repetition) {
  return order_key(seed, {.purpose = Purpose::kMix,
                          .lane = static_cast<std::uint32_t>(source),
                          .block = repetition})
      .first;
}

}  // namespace

Mixture::Mixture(const PlanSpec& spec)
    : sources_(shuffled_sources(spec)), rows_(*spec.mix, source_sizes(spec)) {
  for (const Shuffled& source : sources_) records_.add(source.shards.record_count());
}

MixOrder::MixOrder(const Mixture& mixture, const PlanSpec& spec, std::uint32_t epoch,
                   std::span<const WeightChange> weights)
    : mixture_(mixture),
      rows_(weights.empty() ? mixture.rows() : MixRows(*spec.mix, source_sizes(spec), weights)),
      orders_(mixture.source_count()) {
  for (std::size_t source = 0; source < orders_.size(); ++source) {
    const std::uint64_t count = repetitions(source);
    orders_[source].reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      orders_[source].emplace_back(mixture.source(source), repetition_seed(spec.seed, source, i),
                                   epoch);
    }
  }
}

std::uint64_t MixOrder::repetitions(std::size_t source) const {
  return (rows_.taken()[source] + mixture_.records(source) - 1) / mixture_.records(source);
}

ListEntry MixOrder::entry(std::uint64_t row, Memory& memory) const {
  memory.walks.resize(orders_.size());
  const auto [source, index] = rows_.at(row);
  const std::uint64_t repetition = index / mixture_.records(source);
  Memory::Walk& walk = memory.walks[source];
  if (walk.repetition != repetition) walk = {.repetition = repetition, .memory = {}};
  const std::uint64_t record =
      orders_[source][repetition]
          .find(0, index - repetition * mixture_.records(source), walk.memory)
          .record;
  return {mixture_.first_record(source) + record, static_cast<std::uint32_t>(repetition)};
}

}  // namespace echoline::plan
