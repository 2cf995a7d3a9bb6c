#include "engine/pass/substitutes.h"

#include <utility>
#include <vector>

namespace echoline::engine {

Substitutes::Substitutes(std::shared_ptr<StreamCore> core, std::shared_ptr<PassAccount> account)
    : core_(std::move(core)), account_(std::move(account)) {}

std::shared_ptr<echo::Item> Substitutes::separate(echo::Item& shared, bool first_use) {
  auto own = std::make_shared<echo::Item>(account_, shared.epoch, shared.planned_record, 1,
                                          shared.first_draw);
  {
    const MutexLock lock(own->mutex);
    own->record = shared.record;
    own->attempt = shared.attempt;
  }
  if (first_use) {
    account_->count_used(shared.ahead_bytes());
    shared.used();
  }
  return own;
}

bool Substitutes::replace(echo::Item& item, std::uint32_t attempt, const Status& verdict,
                          bool count) {
  Status decision;
  std::uint64_t substitute = 0;
  {
    const MutexLock lock(item.mutex);
    if (item.attempt != attempt) return true;
    const MutexLock bad_lock(mutex_);
    // Counts of older epochs are dropped. Reading ahead spans about two epochs (memory_plan.cc);
    // only with tiny data sets more of them are prepared at a time.
    std::erase_if(bad_by_epoch_, [&](const auto& bad) { return bad.first + 1 < item.epoch; });
    decision = core_->bad_records->judge(item, verdict, bad_by_epoch_[item.epoch], count);
    substitute = item.record;
  }
  // Both without the item's lock: the fetcher may serve the request at once, which locks the item.
  if (!decision.ok()) {
    // The first error of a stream counts; the pass is stopped by the passes thread.
    core_->fail(decision);
    return false;
  }
  std::vector<FetchRequest> requests;
  requests.push_back({item.shared_from_this(), substitute, {}});
  core_->fetchers->request(std::move(requests));
  return true;
}

}  // namespace echoline::engine
