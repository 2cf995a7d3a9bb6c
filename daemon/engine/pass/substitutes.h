// Replaces the bad records of a pass, and uses of a record that a step refused, by other records.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>

#include "base/mutex.h"
#include "base/status.h"
#include "echo/item.h"
#include "engine/open/stream_core.h"
#include "engine/pass/pass_account.h"

namespace echoline::engine {

// Any worker may call it.
class Substitutes {
 public:
  Substitutes(std::shared_ptr<StreamCore> core, std::shared_ptr<PassAccount> account);

  // A verdict on attempt `attempt` of an item's record: replaces the record and requests the bytes
  // of its substitute. Does nothing if another worker has replaced this attempt already. `count`:
  // see BadRecords::judge. Returns false if the stream ends instead (semantics.md, Failures).
  bool replace(echo::Item& item, std::uint32_t attempt, const Status& verdict, bool count)
      ECHOLINE_EXCLUDES(item.mutex, mutex_);
  // Makes an item of its own for a row whose use of a shared item was refused; the other uses keep
  // theirs. `first_use`: the use is one of the item's encoded bytes.
  std::shared_ptr<echo::Item> separate(echo::Item& shared, bool first_use)
      ECHOLINE_REQUIRES(shared.mutex);

 private:
  const std::shared_ptr<StreamCore> core_;
  const std::shared_ptr<PassAccount> account_;
  Mutex mutex_;  // after the items' mutexes, before that of BadRecords
  std::map<std::uint32_t, std::set<std::uint64_t>> bad_by_epoch_ ECHOLINE_GUARDED_BY(mutex_);
};

}  // namespace echoline::engine
