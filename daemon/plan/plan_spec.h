// The values that a plan takes and gives: the settings that determine the order, the factor
// changes, and the content of one row.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace echoline::plan {

class Buckets;
class OrderLists;

enum class EchoPoint : std::uint8_t { kNone, kRecord, kSample, kAugmented, kBatch };
// What an epoch does when a source of a mixture has no record left: ends, goes on with the other
// sources, or takes its records again.
enum class MixEnd : std::uint8_t { kStop, kDrop, kRepeat };
enum class LastBatch : std::uint8_t { kDrop, kPartial, kPad };

// Changes whenever any order changes; part of the fingerprint and of every state.
inline constexpr std::uint32_t kPlanVersion = 1;

inline constexpr std::uint64_t kWindowAll = ~std::uint64_t{0};

// Several sources in one stream: the shards of the stream are those of all sources, in their order.
struct MixSpec {
  std::vector<std::uint64_t> shards;   // of each source
  std::vector<std::uint32_t> weights;  // of each source; only their ratios count
  MixEnd at_end = MixEnd::kStop;
  std::uint64_t rows = 0;  // of an epoch without echo; only with kRepeat
};

// Everything that the order depends on. Factors are in thousandths.
struct PlanSpec {
  std::uint64_t seed = 0;
  std::uint32_t lanes = 1;
  std::uint32_t batch_rows = 1;
  std::uint64_t shuffle_window = 0;  // 0: the order of the index; kWindowAll: a full permutation
  EchoPoint echo_point = EchoPoint::kNone;
  std::uint32_t factor = 1000;
  std::uint32_t factor_max = 0;   // the largest factor of any change; 0: `factor`
  std::uint64_t echo_window = 0;  // in records; in batches under batch echo
  bool allow_repeats = false;
  bool within_step = false;  // all uses of a record are in one batch; then there is no window
  LastBatch last = LastBatch::kDrop;  // under batch echo: whether a short batch is repeated too
  std::vector<std::uint64_t> shard_records;  // records of each shard, in index order
  // Instead of a shuffle_window: the records of each epoch, in their order.
  std::shared_ptr<const OrderLists> order;
  std::optional<MixSpec> mix;  // not together with `order` or `buckets`
  // With them, shuffle_window is 0 or kWindowAll, and batch_rows is that of the largest batches.
  std::shared_ptr<const Buckets> buckets;

  // Neighbours in a shard can be anywhere in an epoch.
  bool scatters_records() const {
    return order != nullptr || buckets != nullptr || shuffle_window == kWindowAll;
  }
  // Each step is a batch that cannot be cut in another way: it has batch_rows row numbers, also
  // where it has fewer rows.
  bool fixed_batches() const { return echo_point == EchoPoint::kBatch || buckets != nullptr; }
};

// The echo step admits records with this factor from block `block` of an epoch on.
struct FactorChange {
  std::uint64_t block = 0;
  std::uint32_t factor = 1000;
  bool operator==(const FactorChange&) const = default;
};

// From row `row` of an epoch on, counted without echo, the sources of a mixture have these weights.
struct WeightChange {
  std::uint64_t row = 0;
  std::vector<std::uint32_t> weights;  // thousandths, of each source
  bool operator==(const WeightChange&) const = default;
};

// Which use of which record a row holds.
struct RowUse {
  std::uint64_t record = 0;  // sample id
  std::uint32_t use = 0;     // counts from 0
  std::uint32_t uses = 1;    // planned uses of this record in this epoch
  // Where an order has a record several times, each time is an item of its own, with its own uses.
  // The random draws of use u have the number first_draw + u, so that no two items share any.
  std::uint32_t first_draw = 0;
  // In which window of its lane the record was shuffled: neighbours in a shard have the same one,
  // or adjacent ones. 0 where the shuffle has no windows. Modulo 2^32.
  std::uint32_t window = 0;
  bool valid = true;  // false only with fixed_batches(), for rows that a batch does not have
  bool fresh() const { return use == 0; }
};

}  // namespace echoline::plan
