#include "engine/open/bad_records.h"

#include <fmt/format.h>

#include <cmath>

#include "base/log.h"
#include "echoline/shm/philox.h"

namespace echoline::engine {
namespace {

// With one bad record in two, so many bad ones in a row have a probability of 2^-32.
constexpr std::uint32_t kAttemptsMax = 32;
constexpr std::size_t kLoggedMax =
    10'000;  // log lines, so that a broken data set does not fill the disk
// Keeps these draws apart from the other uses of the seed ("substitu" in ASCII).
constexpr std::uint64_t kSubstituteKey = 0x7375627374697475;

}  // namespace

BadReason bad_reason(Code code) {
  switch (code) {
    case Code::kNotFound:
      return BadReason::kMissing;
    case Code::kDataLoss:
      return BadReason::kCorrupt;
    case Code::kResourceExhausted:
      return BadReason::kTooLarge;
    default:
      return BadReason::kInvalid;
  }
}

// Philox of seed, record, epoch and attempt: a function of these alone, so every run and host
// replaces a record by the same one.
std::uint64_t substitute_for(const plan::Plan& plan, std::uint32_t epoch, std::uint64_t record,
                             std::uint32_t attempt) {
  const PhiloxCounter hash = philox4x32(philox_key(plan.spec().seed ^ kSubstituteKey),
                                        {static_cast<std::uint32_t>(record),
                                         static_cast<std::uint32_t>(record >> 32), epoch, attempt});
  const std::uint64_t draw = static_cast<std::uint64_t>(hash[1]) << 32 | hash[0];
  return plan.substitute(epoch, record, draw);
}

BadRecords::BadRecords(const record::Index& index, const plan::Plan& plan, Policy policy)
    : index_(index),
      plan_(plan),
      policy_(policy),
      // Rounded up: a limit above zero allows at least one bad record.
      limit_count_(static_cast<std::uint64_t>(
          std::ceil(policy.limit * static_cast<double>(plan.record_count())))) {}

Status BadRecords::judge(echo::Item& item, const Status& verdict,
                         std::set<std::uint64_t>& bad_in_epoch, bool count) {
  // The object was changed after it was indexed: the stream ends, no record is replaced.
  if (verdict.code() == Code::kFailedPrecondition) {
    return Status(verdict.code(), describe(item.record, verdict));
  }
  // Counted before the decision, so the counters contain the record that ends the stream.
  if (count && bad_in_epoch.insert(item.record).second) {
    const MutexLock lock(mutex_);
    ++counts_[kBadReasonNames[static_cast<std::size_t>(bad_reason(verdict.code()))]];
    log_once(item.record, verdict);
    // Under policy `fail` the first bad record ends the stream below, so no limit is needed.
    if (policy_.replace && bad_in_epoch.size() > limit_count_) {
      return Status(Code::kDataLoss,
                    fmt::format("{} bad records in epoch {}, more than bad_records.limit allows "
                                "({} of {}); the last one: {}",
                                bad_in_epoch.size(), item.epoch, limit_count_, plan_.record_count(),
                                describe(item.record, verdict)));
    }
  }
  if (!policy_.replace) {
    return Status(Code::kDataLoss, describe(item.record, verdict) + " (bad_records.policy: fail)");
  }
  if (item.attempt >= kAttemptsMax) {
    return Status(Code::kDataLoss, fmt::format("{} substitutes in a row were bad; the last one: {}",
                                               kAttemptsMax, describe(item.record, verdict)));
  }
  // From the planned record, not from the bad substitute: attempt k is the same in every run.
  item.replace_by(substitute_for(plan_, item.epoch, item.planned_record, item.attempt + 1));
  return {};
}

std::map<std::string, std::uint64_t> BadRecords::counts() const {
  const MutexLock lock(mutex_);
  return counts_;
}

std::string BadRecords::first() const {
  const MutexLock lock(mutex_);
  return first_;
}

void BadRecords::log_once(std::uint64_t record, const Status& verdict) {
  // The set is bounded together with the log.
  if (logged_.size() >= kLoggedMax || !logged_.insert(record).second) return;
  const std::string text = fmt::format("bad record{}: {}", policy_.replace ? ", replaced" : "",
                                       describe(record, verdict));
  if (first_.empty()) first_ = text;
  log_warning("decode", "{}", text);
}

std::string BadRecords::describe(std::uint64_t record, const Status& verdict) const {
  const record::Extent extent = index_.extent(record);
  return fmt::format("sample {} (key {}) in {} at byte {}: {}", record, index_.key(record),
                     index_.shards()[extent.shard].object.url, index_.begins_at(record),
                     verdict.message());
}

}  // namespace echoline::engine
