// Handles records that cannot be decoded: counts them, logs each once, and replaces each by another
// record. The choice depends on the seed alone, so that every run makes the same one.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/mutex.h"
#include "base/status.h"
#include "echo/item.h"
#include "engine/api/stats.h"
#include "plan/plan.h"
#include "record/core/index.h"

namespace echoline::engine {

// The counter for an error of the decoder.
BadReason bad_reason(Code code);

// The record of the epoch that replaces `record` at the given attempt (from 1).
std::uint64_t substitute_for(const plan::Plan& plan, std::uint32_t epoch, std::uint64_t record,
                             std::uint32_t attempt);

// Any thread may call any of it.
class BadRecords {
 public:
  struct Policy {
    bool replace = true;
    double limit = 0.01;  // share of the records of an epoch, in one pass
  };
  // Both must outlive it.
  BadRecords(const record::Index& index, const plan::Plan& plan, Policy policy);

  // Lock order: item.mutex comes before mutex_. Counts the error and gives the item a substitute,
  // whose bytes the caller fetches; returns an error when the stream has to end.
  // `bad_in_epoch` has the bad records of one pass and epoch: a record that is met again, such as a
  // substitute that has a row of its own, counts once. It has at most one more than the limit.
  // `count` is false for further uses of a record that was counted for one.
  Status judge(echo::Item& item, const Status& verdict, std::set<std::uint64_t>& bad_in_epoch,
               bool count = true) ECHOLINE_REQUIRES(item.mutex) ECHOLINE_EXCLUDES(mutex_);

  std::map<std::string, std::uint64_t> counts() const;
  // The first one, as it is logged; empty: none was bad.
  std::string first() const;
  // So many may be bad in an epoch.
  std::uint64_t most() const { return policy_.replace ? limit_count_ : 0; }

 private:
  // Logs a bad record the first time it is met.
  void log_once(std::uint64_t record, const Status& verdict) ECHOLINE_REQUIRES(mutex_);
  // Names the record, its object, its place and what is wrong with it.
  std::string describe(std::uint64_t record, const Status& verdict) const;

  const record::Index& index_;
  const plan::Plan& plan_;
  const Policy policy_;
  const std::uint64_t limit_count_;
  mutable Mutex mutex_;
  std::map<std::string, std::uint64_t> counts_ ECHOLINE_GUARDED_BY(mutex_);
  std::set<std::uint64_t> logged_ ECHOLINE_GUARDED_BY(mutex_);
  std::string first_ ECHOLINE_GUARDED_BY(mutex_);
};

}  // namespace echoline::engine
