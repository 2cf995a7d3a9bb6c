// Each kind of step has a rank, and ranks must ascend. `echo` has none: it can come between any
// two steps after `shuffle`.
#include "config/structure.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "config/buckets.h"
#include "config/complete.h"
#include "config/echo_advice.h"
#include "config/mix_values.h"
#include "config/pipeline.h"
#include "config/preparation.h"
#include "config/step_values.h"

namespace echoline::config {
namespace {

using StepCase = v1::Step::StepCase;

// The allowed position of a kind of step.
struct StepOrder {
  int rank;
  bool once;                 // it can occur at most once
  std::string_view belongs;  // for errors
};

constexpr int kShuffleRank = 2;
constexpr int kAugmentRank = 4;
// Steps without a rank.
constexpr int kEchoRank = -1;
constexpr int kCacheRank = -2;
constexpr int kPrepareRank = -3;
constexpr int kDecodeRank = 3;

StepOrder order_of(StepCase step) {
  switch (step) {
    case v1::Step::kRead:
    case v1::Step::kMix:
      return {0, true, "first"};
    case v1::Step::kCache:
      return {kCacheRank, true, "directly after 'read', 'decode' or 'prepare'"};
    case v1::Step::kPrepare:
      return {kPrepareRank, true, "after 'decode' and the steps without draws, before 'echo'"};
    case v1::Step::kShuffle:
      return {kShuffleRank, true, "between 'read' and 'decode', before any 'echo'"};
    case v1::Step::kDecode:
      return {kDecodeRank, true, "between 'read' and 'batch', before the augmentations"};
    case v1::Step::kEcho:
      return {kEchoRank, true, "between 'read' and 'publish', after any 'shuffle'"};
    case v1::Step::kBatch:
      return {5, true, "after the augmentations"};
    case v1::Step::kPublish:
      return {6, true, "last"};
    default:
      return {kAugmentRank, false, "between 'decode' and 'batch'"};
  }
}

// Visits the steps in order and remembers the rank that it has reached.
class OrderCheck {
 public:
  OrderCheck(const v1::Stream& stream, const SourceLocations& locations)
      : stream_(stream), locations_(locations) {}

  Status run() {
    for (const v1::Step& step : stream_.pipeline()) ECHOLINE_TRY(pass(step));
    // Without these a stream has no data, no fields or no batches.
    for (const StepCase needed : {v1::Step::kRead, v1::Step::kDecode, v1::Step::kBatch}) {
      const bool instead = (needed == v1::Step::kDecode && python_) ||
                           (needed == v1::Step::kRead && seen(v1::Step::kMix) > 0);
      if (seen(needed) == 0 && !instead) {
        return locations_.error(stream_, "pipeline",
                                fmt::format("no '{}' step; it belongs {}", step_name(needed),
                                            order_of(needed).belongs));
      }
    }
    return Status();
  }

 private:
  int seen(StepCase step) const {
    const auto found = seen_.find(step);
    return found == seen_.end() ? 0 : found->second;
  }

  Status error(const v1::Step& step, std::string_view text) const {
    return key_error(locations_.where(step, static_cast<int>(step.step_case())),
                     step_name(step.step_case()), text);
  }

  Status pass(const v1::Step& step) {
    const StepCase kind = step.step_case();
    if (kind == v1::Step::STEP_NOT_SET) {
      return locations_.error(stream_, "pipeline", "a step without a kind");
    }
    const StepOrder order = order_of(kind);
    if (order.once && seen(kind) > 0) return error(step, "is given twice; one is allowed");
    // Counted before it is checked, so that a second one is found in any place.
    ++seen_[kind];
    const bool reads = kind == v1::Step::kRead || kind == v1::Step::kMix;
    if (before_ == nullptr && !reads) {
      return error(step, "is the first step; a pipeline begins with 'read' or 'mix'");
    }
    if (before_ != nullptr && reads) return misplaced(step);
    if (step.read().has_python()) python_ = true;
    if (python_ && kind == v1::Step::kPrepare) {
      return error(step,
                   "is for servers that read the data; a data set in Python ('read: python') is "
                   "read on this host, so leave this step out");
    }
    if (python_ && (kind == v1::Step::kDecode || kind == v1::Step::kCache)) {
      return error(step,
                   "is for encoded records; a data set in Python ('read: python') makes "
                   "samples, so leave this step out");
    }
    const Status status = kind == v1::Step::kEcho      ? pass_echo(step)
                          : kind == v1::Step::kCache   ? pass_cache(step)
                          : kind == v1::Step::kPrepare ? pass_prepare(step)
                                                       : pass_ranked(step, order);
    // Also after an error, which ends the check anyway.
    before_ = &step;
    return status;
  }

  // Remembers the rank before the echo; pass_ranked() refuses wrong steps after it.
  Status pass_echo(const v1::Step& step) {
    // After `publish` nothing can follow.
    if (rank_ == order_of(v1::Step::kPublish).rank) return misplaced(step);
    echo_rank_ = rank_;
    return Status();
  }

  Status pass_cache(const v1::Step& step) {
    // Its place depends on the step before, not on a rank.
    const StepCase before = before_->step_case();
    const bool fits = before == v1::Step::kRead || before == v1::Step::kMix ||
                      before == v1::Step::kDecode || before == v1::Step::kPrepare;
    return fits ? Status() : misplaced(step);
  }

  Status pass_prepare(const v1::Step& step) {
    // Uses are made where the trainers are: an echo before it would send each use.
    const bool has_samples = rank_ == kDecodeRank || rank_ == kAugmentRank;
    return has_samples && echo_rank_ < 0 ? Status() : misplaced(step);
  }

  Status pass_ranked(const v1::Step& step, const StepOrder& order) {
    // Ranks ascend, and `shuffle` is not allowed after `echo`.
    if (order.rank < rank_ || (order.rank <= kShuffleRank && echo_rank_ >= 0))
      return misplaced(step);
    rank_ = order.rank;
    return Status();
  }

  Status misplaced(const v1::Step& step) const {
    return error(step, fmt::format("follows '{}'; it belongs {}", step_name(before_->step_case()),
                                   order_of(step.step_case()).belongs));
  }

  const v1::Stream& stream_;
  const SourceLocations& locations_;
  const v1::Step* before_ = nullptr;  // the previous step
  bool python_ = false;               // users' code makes the samples
  int rank_ = 0;                      // reached so far
  int echo_rank_ = -1;                // reached before the echo; -1: no echo yet
  std::map<StepCase, int> seen_;      // counts by kind
};

// All uses of a record are in one batch: there is no window, and the factor decides what is in it.
Status check_spread(const v1::Stream& stream, const v1::Echo& echo,
                    const SourceLocations& locations) {
  if (echo_place(stream) == EchoPlace::kBatch) {
    return locations.error(echo, "spread",
                           "is for records and samples, and this 'echo' is after "
                           "'batch'; leave it out");
  }
  const std::pair<const char*, bool> others[] = {{"window", echo.has_window()},
                                                 {"max", echo.has_max()},
                                                 {"allow_repeats", echo.has_allow_repeats()}};
  for (const auto& [key, given] : others) {
    if (!given) continue;
    return locations.error(echo, key,
                           "'spread: step' has all uses of a record in one batch; leave this out");
  }
  const std::uint32_t size = batch_step(stream).size();
  if (size % stream.lanes() != 0) return Status();  // check_lanes has the better error
  const std::uint32_t rows = size / stream.lanes();
  const std::uint32_t uses = echo.factor() / 1000;
  if (uses > 0 && echo.factor() % 1000 == 0 && rows % uses == 0) return Status();
  return locations.error(
      echo, "factor",
      fmt::format("'spread: step' needs a whole number that divides the {} rows of a batch{}", rows,
                  stream.lanes() > 1 ? " per lane" : ""));
}

Status check_window(const v1::Echo& echo, const SourceLocations& locations) {
  if (!echo.has_window()) {
    return locations.error(echo, "window",
                           "missing; it is required, except with 'spread: step' or 'factor: auto'");
  }
  // Equal is allowed: then the factor can only be lowered.
  if (!echo.has_max() || echo.max() >= echo.factor()) return Status();
  return locations.error(echo, "max", "smaller than the factor; allowed: the factor or more");
}

// With `factor: auto`, the window and the largest factor have defaults.
void complete_auto(v1::Echo& echo, EchoPlace place, const v1::Stream& stream) {
  if (echo.factor() != 0 || echo.has_spread()) return;
  if (!echo.has_max()) echo.set_max(1000 * kAdvisedFactor);
  if (echo.has_window()) return;
  const std::uint64_t size = batch_step(stream).size();
  const std::uint64_t uses = std::max(2U, (echo.max() + 999) / 1000);
  // With this window, no batch has two uses of one record (docs/semantics_details.md).
  const std::uint64_t least = 3 * (uses - 1) * (size + stream.lanes() * (uses + 1));
  echo.set_window(place == EchoPlace::kBatch ? kAdvisedBatches
                                             : std::max(kAdvisedBatches * size, least));
}

void complete_auto(v1::Stream& stream) {
  if (stream.has_echo()) complete_auto(*stream.mutable_echo(), EchoPlace::kNone, stream);
  for (v1::Step& step : *stream.mutable_pipeline()) {
    if (step.has_echo()) complete_auto(*step.mutable_echo(), echo_place(stream), stream);
  }
}

Status check_echo(const v1::Stream& stream, const SourceLocations& locations) {
  const v1::Echo* echo = echo_step(stream);
  if (!stream.has_echo()) {
    if (echo == nullptr) return Status();
    return echo->has_spread() ? check_spread(stream, *echo, locations)
                              : check_window(*echo, locations);
  }
  if (echo != nullptr) {
    return locations.error(
        stream, "echo",
        "the pipeline has an 'echo' step, too; keep the step to choose its place "
        "yourself, or this one to let the daemon choose");
  }
  if (stream.echo().has_spread()) {
    return locations.error(
        stream.echo(), "spread",
        "needs a place of your choice, before the augmentations: write 'echo' as "
        "a step of the pipeline");
  }
  return check_window(stream.echo(), locations);
}

Status check_lanes(const v1::Stream& stream, const SourceLocations& locations) {
  const std::uint32_t size = batch_step(stream).size();
  // Each lane fills an equal part of each batch.
  if (size % stream.lanes() == 0) return Status();
  return locations.error(stream, "lanes",
                         fmt::format("{} does not divide the batch size {}", stream.lanes(), size));
}

Status check_lag(const v1::Stream& stream, const SourceLocations& locations) {
  const v1::Publish& publish = publish_step(stream);
  if (!publish.has_lag()) return Status();
  // `lag` decides when a job is slow, and with `wait` nothing happens then.
  if (publish.when_slow() == "wait") {
    return locations.error(publish, "lag", "needs 'when_slow: split' or 'when_slow: detach'");
  }
  const std::uint32_t size = batch_step(stream).size();
  // The slowest job holds one slot, and the ring stops the others when they have filled the rest.
  const std::uint64_t most = (std::uint64_t{publish.slots()} - 1) * size;
  if (publish.lag() <= most) return Status();
  return locations.error(
      publish, "lag",
      fmt::format("no job can be {} rows behind with {} slots of {}; allowed: 1 to "
                  "{}",
                  publish.lag(), publish.slots(), size, most));
}

}  // namespace

Status check_structure(v1::Stream& stream, const SourceLocations& locations) {
  ECHOLINE_TRY(OrderCheck(stream, locations).run());
  if (stream.pipeline().rbegin()->step_case() != v1::Step::kPublish) {
    // At the end, also after an echo of batches: no step can follow `publish`.
    ECHOLINE_TRY(complete(*stream.add_pipeline()->mutable_publish(), locations));
  }
  // From here on every step that is needed exists.
  ECHOLINE_TRY(mix_step(stream) == nullptr ? check_read(*reads_of(stream).front(), locations)
                                           : check_mix(stream, locations));
  ECHOLINE_TRY(check_shuffle(stream, locations));
  ECHOLINE_TRY(check_buckets(stream, locations));
  ECHOLINE_TRY(check_decode(stream, locations));
  ECHOLINE_TRY(check_cache(stream, locations));
  ECHOLINE_TRY(check_augmentations(stream, locations));
  complete_auto(stream);
  ECHOLINE_TRY(check_echo(stream, locations));
  ECHOLINE_TRY(check_prepare(stream, locations));
  ECHOLINE_TRY(check_lanes(stream, locations));
  return check_lag(stream, locations);
}

}  // namespace echoline::config
