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

std::uint64_t Mixture::repetitions(std::size_t source) const {
  return (rows_.taken()[source] + records(source) - 1) / records(source);
}

MixOrder::MixOrder(const Mixture& mixture, std::uint64_t seed, std::uint32_t epoch)
    : mixture_(mixture), orders_(mixture.source_count()) {
  for (std::size_t source = 0; source < orders_.size(); ++source) {
    const std::uint64_t repetitions = mixture.repetitions(source);
    orders_[source].reserve(repetitions);
    for (std::uint64_t i = 0; i < repetitions; ++i) {
      orders_[source].emplace_back(mixture.source(source), repetition_seed(seed, source, i), epoch);
    }
  }
}

ListEntry MixOrder::entry(std::uint64_t row, Memory& memory) const {
  memory.walks.resize(orders_.size());
  const auto [source, index] = mixture_.rows().at(row);
  const std::uint64_t repetition = index / mixture_.records(source);
  Memory::Walk& walk = memory.walks[source];
  if (walk.repetition != repetition) walk = {.repetition = repetition, .memory = {}};
  const std::uint64_t record = orders_[source][repetition].record(
      0, index - repetition * mixture_.records(source), walk.memory);
  return {mixture_.first_record(source) + record, static_cast<std::uint32_t>(repetition)};
}

}  // namespace echoline::plan
