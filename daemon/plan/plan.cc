#include "plan/plan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "plan/batch_epoch.h"
#include "plan/bucket_epoch.h"
#include "plan/factor_list.h"
#include "plan/interleave.h"
#include "plan/mix_check.h"
#include "plan/mix_order.h"
#include "plan/row_epoch.h"
#include "plan/spec_check.h"
#include "plan/stream_order.h"

namespace echoline::plan {

Result<std::unique_ptr<Plan>> Plan::create(PlanSpec spec) {
  if (spec.factor_max == 0) spec.factor_max = spec.factor;
  ECHOLINE_TRY(check_spec(spec));
  return std::unique_ptr<Plan>(new Plan(std::move(spec)));
}

Plan::Plan(PlanSpec checked) : stream_(std::make_shared<const StreamOrder>(std::move(checked))) {}

const PlanSpec& Plan::spec() const { return stream_->spec; }

bool Plan::echoes() const { return spec().echo_point != EchoPoint::kNone; }

bool Plan::repeats_batches() const { return spec().echo_point == EchoPoint::kBatch; }

std::uint64_t Plan::record_count() const { return stream_->items; }

std::uint64_t Plan::record_at(std::uint32_t epoch, std::uint64_t place) const {
  if (const Mixture* const mixture = stream_->mixture.get()) {
    const auto [source, index] = mixture->rows().at(place);
    return mixture->first_record(source) + index % mixture->records(source);
  }
  return spec().order == nullptr ? place : spec().order->at(epoch, place).record;
}

std::uint64_t Plan::substitute(std::uint32_t epoch, std::uint64_t record,
                               std::uint64_t draw) const {
  if (const Buckets* const buckets = spec().buckets.get()) {
    std::size_t bucket = buckets->bucket_of(record);
    // All records of a bucket without a whole batch have gone on to the next one.
    while (bucket + 1 < buckets->count() && (*stream_->batches)[bucket].batches == 0) ++bucket;
    return buckets->record_up_to(bucket, draw);
  }
  if (const Mixture* const mixture = stream_->mixture.get()) {
    const std::size_t source = mixture->source_of(record);
    return mixture->first_record(source) + draw % mixture->records(source);
  }
  return record_at(epoch, draw % record_count());
}

std::uint64_t Plan::block_count() const {
  return echoes() && !spec().within_step ? stream_->shape.blocks : 0;
}

std::uint64_t Plan::rows_per_epoch() const {
  if (stream_->batches && !repeats_batches()) {
    return stream_->batches->count() * spec().batch_rows;
  }
  if (!echoes()) return record_count();
  const std::uint64_t uses = stream_->demand.items * spec().factor / 1000;
  return repeats_batches() ? uses * spec().batch_rows : uses;
}

std::uint64_t Plan::valid_rows(std::uint64_t rows) const {
  if (!stream_->batches || stream_->batches->count() == 0) return rows;
  const std::uint64_t steps = rows / spec().batch_rows;
  return multiply_divide(stream_->batches->rows(), steps, stream_->batches->count()).whole;
}

std::uint64_t Plan::kept_max() const {
  if (!echoes()) return 0;
  const std::uint64_t window =
      spec().within_step ? spec().batch_rows / (spec().factor / 1000) : spec().echo_window;
  return std::min(window, stream_->demand.items);
}

Status Plan::check_changes(std::span<const FactorChange> changes) const {
  if (!echoes() && !changes.empty()) {
    return Status(Code::kInvalidArgument, "factor list: this stream has no echo step");
  }
  if (spec().within_step && !changes.empty()) {
    return Status(Code::kInvalidArgument,
                  "factor list: with echo.spread: step the factor cannot change");
  }
  return plan::check_changes(changes, {.blocks = block_count(), .factor_max = spec().factor_max});
}

Status Plan::check_weights(std::span<const WeightChange> weights) const {
  return plan::check_weights(spec(), weights);
}

std::unique_ptr<EpochPlan> Plan::epoch(std::uint32_t epoch, std::span<const FactorChange> changes,
                                       std::span<const WeightChange> weights) const {
  ECHOLINE_CHECK(check_changes(changes).ok() && check_weights(weights).ok());
  const std::vector<FactorChange> factors = whole_list(changes, spec().factor);
  if (echoes() && !spec().within_step && !repeats_batches()) {
    return std::make_unique<RowEpoch>(stream_, epoch, factors, weights);
  }
  std::unique_ptr<EpochPlan> fresh;
  if (spec().buckets != nullptr) {
    fresh = std::make_unique<BucketEpoch>(stream_, epoch);
  } else {
    // With an empty list, RowEpoch builds no order of blocks.
    fresh = std::make_unique<RowEpoch>(stream_, epoch, std::span<const FactorChange>(), weights);
  }
  if (!repeats_batches()) return fresh;
  return std::make_unique<BatchEpoch>(*stream_, epoch, std::move(fresh), factors);
}

}  // namespace echoline::plan
