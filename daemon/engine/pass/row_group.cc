#include "engine/pass/row_group.h"

#include <algorithm>
#include <utility>

namespace echoline::engine {

bool RowGroup::is_possible(const StreamCore& core, bool of_kept) {
  // At the other echo points the kept form is the finished row.
  if (of_kept && core.plan->spec().echo_point != plan::EchoPoint::kSample) return false;
  return core.preparer->chain().has_together(of_kept);
}

std::uint32_t RowGroup::add(std::uint32_t begin, std::uint32_t end) {
  std::uint32_t index = begin;
  for (; index < end && bytes_ < kTogetherBytes; ++index) {
    if (!planned_[index].made) add_row(index);
  }
  return index;
}

void RowGroup::add_row(std::uint32_t index) {
  const InFlightRow& planned = planned_[index];
  echo::Item& item = *planned.item;
  const MutexLock lock(item.mutex);
  // What another row is made of now may be kept afterwards.
  if (!item.ready() || item.is_claimed() || item.has_encoded() == of_kept_) return;
  batch::WorkerScratch& scratch = next_scratch();
  const UseKey key = use_key(core_, item, planned.use);
  Member member{.index = index, .scratch = &scratch, .attempt = item.attempt, .claim = nullptr};
  if (!of_kept_) {
    if (!core_.preparer->begin_encoded(item, key, planned.used_again, scratch).ok()) return;
    member.claim = std::make_unique<echo::Claim>(item);
  }
  rows_.push_back({.in = of_kept_ ? &item.sample() : &scratch.sample,
                   .key = core_.preparer->drawn_key(key),
                   .scratch = scratch.augment_scratch.get()});
  bytes_ += rows_.back().in->bytes();
  members_.push_back(std::move(member));
}

batch::WorkerScratch& RowGroup::next_scratch() {
  if (own_.group_scratches.size() == members_.size()) {
    auto scratch = std::make_unique<batch::WorkerScratch>();
    scratch->decode_scratch = own_.decode_scratch;
    scratch->augment_scratch = core_.preparer->chain().make_scratch();
    own_.group_scratches.push_back(std::move(scratch));
  }
  batch::WorkerScratch& next = *own_.group_scratches[members_.size()];
  next.augment_scratch->stages_done = 0;
  return next;
}

void RowGroup::run(const std::atomic<bool>* stopping) {
  for (const Member& member : members_) member.scratch->augment_scratch->stop_with(stopping);
  core_.preparer->chain().run_together(rows_, of_kept_);
  std::vector<Member> good;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (rows_[i].is_good) good.push_back(std::move(members_[i]));
  }
  members_ = std::move(good);
}

}  // namespace echoline::engine
