// One function per subject, in the order of the configuration.
#include "plan/spec_check.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/check.h"
#include "plan/bucket_batches.h"
#include "plan/mix_check.h"
#include "plan/mix_rows.h"
#include "plan/order_lists.h"

namespace echoline::plan {
namespace {

Status refusal(std::string why) { return Status(Code::kInvalidArgument, std::move(why)); }

// The sum over the shards; kRecordsMax + 1 if it is more than that.
std::uint64_t count_records(const PlanSpec& spec) {
  std::uint64_t records = 0;
  for (const std::uint64_t count : spec.shard_records) {
    // Compared before adding, so that the sum can't overflow.
    if (count > kRecordsMax - records) return kRecordsMax + 1;
    records += count;
  }
  return records;
}

Status check_records(std::uint64_t records) {
  if (records == 0) return refusal("read.url: there are no records at this address");
  if (records > kRecordsMax) {
    return refusal("read.url: more than " + std::to_string(kRecordsMax) +
                   " records in one stream; split it into several");
  }
  return {};
}

// The draws of a use have a number of 16 bits.
Status check_order(const PlanSpec& spec, std::uint64_t records) {
  if (spec.order == nullptr) return {};
  ECHOLINE_CHECK(spec.order->record_count() == records && spec.shuffle_window == 0);
  const std::uint64_t times = std::uint64_t{spec.order->repeat_max()} + 1;
  if (times * draws_per_item(spec) <= kDrawsMax) return {};
  return refusal("shuffle.order: a record is " + std::to_string(times) +
                 " times in one epoch; with echo.max " + thousandths(spec.factor_max) +
                 " at most " + std::to_string(kDrawsMax / draws_per_item(spec)) +
                 " times are possible");
}

// A bucket's batches have fewer rows than batch.size where there is a budget.
std::string where(const Buckets& buckets, std::size_t bucket) {
  return "the bucket up to " + std::to_string(buckets.shape(bucket).up_to);
}

Status check_buckets(const PlanSpec& spec, std::uint64_t records) {
  if (spec.buckets == nullptr) return {};
  if (spec.mix) {
    return refusal(
        "batch.buckets: the batches of a mixture can't be cut by length; use one source");
  }
  const Buckets& buckets = *spec.buckets;
  ECHOLINE_CHECK(buckets.record_count() == records);
  if (spec.order != nullptr || (spec.shuffle_window != 0 && spec.shuffle_window != kWindowAll)) {
    return refusal(std::string(spec.order != nullptr ? "shuffle.order" : "shuffle.window") +
                   ": with batch.buckets only 'shuffle: {window: all}' or no shuffle step");
  }
  const bool windowed = spec.echo_point != EchoPoint::kNone &&
                        spec.echo_point != EchoPoint::kBatch && !spec.within_step;
  if (windowed) {
    return refusal(
        "echo.window: with batch.buckets the uses of a record can't be spread over batches; use "
        "'spread: step', or move the echo step after 'batch'");
  }
  for (std::size_t i = 0; i < buckets.count(); ++i) {
    const std::uint32_t rows = buckets.shape(i).rows;
    ECHOLINE_CHECK(rows > 0 && rows <= spec.batch_rows);
    if (spec.within_step &&
        (spec.factor < 1000 || spec.factor % 1000 != 0 || rows % (spec.factor / 1000) != 0)) {
      return refusal("echo.factor: " + thousandths(spec.factor) +
                     " with echo.spread: step: it must be whole, and divide the " +
                     std::to_string(rows) + " rows of a batch of " + where(buckets, i));
    }
  }
  return {};
}

Status check_lanes(const PlanSpec& spec, std::uint64_t items) {
  if (spec.batch_rows == 0) return refusal("batch.size: must be at least 1");
  if (spec.lanes == 0 || spec.lanes > kLanesMax) {
    return refusal("lanes: " + std::to_string(spec.lanes) + " is not within 1 and " +
                   std::to_string(kLanesMax));
  }
  if (spec.batch_rows % spec.lanes != 0) {
    return refusal("lanes: " + std::to_string(spec.lanes) + " does not divide batch.size " +
                   std::to_string(spec.batch_rows) +
                   "; every batch takes an equal share from each lane");
  }
  if (spec.lanes > items) {
    return refusal("lanes: " + std::to_string(spec.lanes) + " lanes for " + std::to_string(items) +
                   " records; take fewer");
  }
  return {};
}

Status check_factor(const PlanSpec& spec) {
  if (spec.factor < 1000 || spec.factor > kFactorMax) {
    return refusal("echo.factor: " + thousandths(spec.factor) + " is not within 1 and 1000");
  }
  if (spec.factor_max < spec.factor || spec.factor_max > kFactorMax) {
    return refusal("echo.max: " + thousandths(spec.factor_max) + " is not within echo.factor, " +
                   thousandths(spec.factor) + ", and 1000");
  }
  return {};
}

Status check_within_step(const PlanSpec& spec) {
  if (spec.echo_point == EchoPoint::kBatch) {
    return refusal("echo.spread: step is for records and samples, not for batches");
  }
  if (spec.factor_max != spec.factor) {
    return refusal("echo.max: with echo.spread: step the factor cannot change; leave it out");
  }
  const std::uint32_t rows = spec.batch_rows / spec.lanes;
  // With buckets, check_buckets has done this.
  const bool is_checked = spec.buckets != nullptr;
  if (is_checked || (spec.factor % 1000 == 0 && rows % (spec.factor / 1000) == 0)) return {};
  return refusal("echo.factor: " + thousandths(spec.factor) +
                 " with echo.spread: step: it must be whole, and divide the " +
                 std::to_string(rows) + " rows of a batch" + (spec.lanes > 1 ? " per lane" : ""));
}

Status check_echo(const PlanSpec& spec, std::uint64_t items) {
  if (spec.echo_point == EchoPoint::kNone) {
    if (spec.factor == 1000) return {};
    return refusal("echo.factor: " + thousandths(spec.factor) + " without an echo step");
  }
  ECHOLINE_TRY(check_factor(spec));
  if (spec.within_step) return check_within_step(spec);
  if (spec.echo_window == 0) return refusal("echo.window: must be at least 1");
  if (spec.echo_point == EchoPoint::kBatch) return {};
  const EchoDemand demand = echo_demand(spec, items);
  if (!spec.allow_repeats) ECHOLINE_TRY(check_twins(demand));
  if (spec.echo_window < spec.lanes) {
    return refusal("echo.window: " + std::to_string(spec.echo_window) +
                   " is less than one for each of " + std::to_string(spec.lanes) + " lanes");
  }
  return {};
}

// Rows of an epoch with the spec's factor, including an incomplete last batch.
std::uint64_t epoch_rows(const PlanSpec& spec, std::uint64_t items) {
  return spec.echo_point == EchoPoint::kBatch ? items : items * spec.factor / 1000;
}

Status check_steps(const PlanSpec& spec, std::uint64_t items) {
  if (spec.buckets != nullptr) {
    if (batch_count(spec, items) > 0) return {};
    const Buckets& buckets = *spec.buckets;
    return refusal("batch.last: drop leaves no batch of an epoch of " + std::to_string(items) +
                   " records; the " +
                   std::to_string(BucketBatches(spec)[buckets.count() - 1].rest()) +
                   " of the last bucket do not fill a batch of " +
                   std::to_string(buckets.shape(buckets.count() - 1).rows) +
                   "; take a smaller size, or last: partial or pad");
  }
  const std::uint64_t rows = epoch_rows(spec, items);
  if (spec.last != LastBatch::kDrop || rows >= spec.batch_rows) return {};
  return refusal("batch.last: drop leaves no batch of an epoch of " + std::to_string(rows) +
                 " rows with batch.size " + std::to_string(spec.batch_rows) +
                 "; take a smaller size, or last: partial or pad");
}

}  // namespace

std::string thousandths(std::uint32_t number) {
  std::string digits = std::to_string(number % 1000 + 1000).substr(1);
  while (!digits.empty() && digits.back() == '0') digits.pop_back();
  return std::to_string(number / 1000) + (digits.empty() ? "" : "." + digits);
}

std::uint64_t item_count(const PlanSpec& spec, std::uint64_t records) {
  if (spec.mix) return MixRows(*spec.mix, source_sizes(spec)).rows();
  return spec.order == nullptr ? records : spec.order->length();
}

std::uint32_t draws_per_item(const PlanSpec& spec) {
  return spec.echo_point == EchoPoint::kNone ? 1 : passes_of(spec.factor_max);
}

std::uint64_t batch_count(const PlanSpec& spec, std::uint64_t items) {
  if (spec.buckets != nullptr) return BucketBatches(spec).count();
  const std::uint64_t whole = items / spec.batch_rows;
  const bool short_one = spec.last != LastBatch::kDrop && items % spec.batch_rows > 0;
  return whole + (short_one ? 1 : 0);
}

EchoDemand echo_demand(const PlanSpec& spec, std::uint64_t items) {
  if (spec.echo_point == EchoPoint::kBatch) {
    return {.items = batch_count(spec, items),
            .window = spec.echo_window,
            .factor_max = spec.factor_max};
  }
  return {.items = items,
          .lanes = spec.lanes,
          .batch_items = spec.batch_rows,
          .window = spec.echo_window,
          .factor_max = spec.factor_max};
}

Status check_spec(const PlanSpec& spec) {
  const std::uint64_t records = count_records(spec);
  ECHOLINE_TRY(check_records(records));
  ECHOLINE_TRY(check_buckets(spec, records));
  ECHOLINE_TRY(check_order(spec, records));
  ECHOLINE_TRY(check_mix(spec));
  const std::uint64_t items = item_count(spec, records);
  ECHOLINE_TRY(check_lanes(spec, items));
  ECHOLINE_TRY(check_echo(spec, items));
  return check_steps(spec, items);
}

}  // namespace echoline::plan
