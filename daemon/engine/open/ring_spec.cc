#include "engine/open/ring_spec.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "config/pipeline.h"
#include "engine/open/fingerprint.h"
#include "user_code/workers.h"

namespace echoline::engine {
namespace {

// The text of all users' functions and the versions of their interpreters, the hashes of their
// libraries and of files that steps read, and the hash of the lists of an order, or of the buckets.
std::string contents_of(const augment::Chain& chain, const OpenedOrder& order) {
  std::string contents;
  for (const user_code::Workers* workers : chain.user_code()) {
    contents += workers->function().source;
    if (workers->function().counts_versions) contents += "\n" + workers->versions() + "\n";
  }
  contents += chain.contents();
  if (order.hash.empty()) return contents;
  return fmt::format("{}\n{} {}\n", contents, order.buckets ? "buckets" : "order", order.hash);
}

}  // namespace

ring::RingSpec ring_spec(const v1::Stream& stream, const plan::Plan& whole,
                         const std::vector<decode::FieldType>& row_types,
                         const record::DataSet& data_set, const augment::Chain& chain,
                         const OpenedOrder& order) {
  const plan::PlanSpec& plan = whole.spec();
  // Without batch echo, slots and live descriptors are equally many (Pass::try_start_batch).
  const std::uint32_t slots = config::publish_step(stream).slots();
  ring::RingSpec spec;
  spec.fields = row_types;
  spec.batch_rows = plan.batch_rows;
  spec.descriptors_live = slots;
  spec.slot_count = slots;
  if (plan.echo_point == plan::EchoPoint::kBatch) {
    // One more than the window: a batch in delivery.
    spec.slot_count += static_cast<std::uint32_t>(plan.echo_window) + 1;
    spec.flags |= shm::kRingBatchEcho;
  }
  if (plan.buckets != nullptr) spec.flags |= shm::kRingBuckets;
  // Set by default; the user gave it up.
  if (!config::publish_step(stream).sealed()) spec.flags &= ~std::uint32_t{shm::kRingSealed};
  switch (plan.last) {
    case plan::LastBatch::kDrop:
      spec.last_batch = shm::kLastDrop;
      break;
    case plan::LastBatch::kPartial:
      spec.last_batch = shm::kLastPartial;
      break;
    case plan::LastBatch::kPad:
      spec.last_batch = shm::kLastPad;
      break;
  }
  spec.plan_version = plan::kPlanVersion;
  spec.rows_per_epoch = whole.rows_per_epoch();
  spec.records_per_epoch = whole.record_count();
  // Trainers find it in the ring's header and put it into their states.
  spec.fingerprint = fingerprint(stream, data_set, contents_of(chain, order));
  spec.factor = plan.factor;
  spec.has_weights = plan.mix.has_value();
  spec.echo_point = static_cast<std::uint32_t>(plan.echo_point);
  spec.seed = plan.seed;
  return spec;
}

}  // namespace echoline::engine
