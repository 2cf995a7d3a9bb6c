// The plan of a stream: checks once, then makes epochs.
#include "plan/plan.h"

#include "base/check.h"
#include "plan/batch_epoch.h"
#include "plan/factor_list.h"
#include "plan/row_epoch.h"
#include "plan/spec_check.h"
#include "plan/stream_order.h"

namespace echoline::plan {
namespace {

// Immutable, any thread.
class CheckedPlan : public Plan {
 public:
  explicit CheckedPlan(PlanSpec spec)
      : stream_(std::make_shared<const StreamOrder>(std::move(spec))) {}

  const PlanSpec& spec() const override { return stream_->spec; }
  std::uint64_t record_count() const override { return stream_->shards.record_count(); }
  std::uint64_t block_count() const override { return echoes() ? stream_->shape.blocks : 0; }

  std::uint64_t rows_per_epoch() const override {
    if (!echoes()) return record_count();
    const std::uint64_t uses = stream_->demand.items * spec().factor / 1000;
    return repeats_batches() ? uses * spec().batch_rows : uses;
  }

  std::uint64_t kept_max() const override {
    return echoes() ? std::min(spec().echo_window, stream_->demand.items) : 0;
  }

  Status check_changes(std::span<const FactorChange> changes) const override {
    if (!echoes() && !changes.empty()) {
      return Status(Code::kInvalidArgument, "factor list: this stream has no echo step");
    }
    return plan::check_changes(changes, {.blocks = block_count(), .factor_max = spec().factor_max});
  }

  std::unique_ptr<EpochPlan> epoch(std::uint32_t epoch,
                                   std::span<const FactorChange> changes) const override {
    ECHOLINE_CHECK(check_changes(changes).ok());
    if (!echoes()) return std::make_unique<RowEpoch>(stream_, epoch, changes);
    const std::vector<FactorChange> factors = whole_list(changes, spec().factor);
    if (repeats_batches()) return std::make_unique<BatchEpoch>(stream_, epoch, factors);
    return std::make_unique<RowEpoch>(stream_, epoch, factors);
  }

 private:
  bool echoes() const { return spec().echo_point != EchoPoint::kNone; }
  bool repeats_batches() const { return spec().echo_point == EchoPoint::kBatch; }

  std::shared_ptr<const StreamOrder> stream_;
};

}  // namespace

Result<std::unique_ptr<Plan>> Plan::create(PlanSpec spec) {
  if (spec.factor_max == 0) spec.factor_max = spec.factor;
  ECHOLINE_TRY(check_spec(spec));
  return std::unique_ptr<Plan>(std::make_unique<CheckedPlan>(std::move(spec)));
}

}  // namespace echoline::plan
