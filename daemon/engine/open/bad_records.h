// What becomes of records that the decoder rejects: counted, named once, and replaced by another
// one that is chosen by seed, so that every run takes the same; up to a limit.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "base/status.h"
#include "echo/item.h"
#include "engine/api/stats.h"
#include "record/core/index.h"

namespace echoline::engine {

// What the decoder's verdict is counted as.
BadReason bad_reason(Code code);

// The record that takes the place of `record` at the given attempt (from 1).
std::uint64_t substitute_for(std::uint64_t seed, std::uint32_t epoch, std::uint64_t record,
                             std::uint32_t attempt, std::uint64_t record_count);

// Any thread may call any of it.
class BadRecords {
 public:
  struct Policy {
    bool replace = true;
    double limit = 0.01;  // share of the records, in one epoch of one pass
    std::uint64_t seed = 0;
  };
  BadRecords(const record::Index& index, Policy policy);

  // With item.mutex held: counts the verdict and puts a substitute in the item's place, whose bytes
  // are to be fetched; an error when the stream must not go on. `bad_in_epoch` counts the verdicts
  // of one pass and epoch.
  Status judge(echo::Item& item, const Status& verdict, std::uint64_t& bad_in_epoch);

  std::map<std::string, std::uint64_t> counts() const;

 private:
  void name_once(std::uint64_t record, const Status& verdict);
  std::string describe(std::uint64_t record, const Status& verdict) const;

  const record::Index& index_;
  const Policy policy_;
  const std::uint64_t limit_count_;
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> counts_;
  std::set<std::uint64_t> named_;
};

}  // namespace echoline::engine
