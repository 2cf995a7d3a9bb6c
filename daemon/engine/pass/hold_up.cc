#include "engine/pass/hold_up.h"

#include <memory>

namespace echoline::engine {

WaitCause HoldUp::present() const {
  const std::shared_ptr<const InFlightBatch> head = in_flight_.head();
  if (head == nullptr) {  // either no slot is free, or the batch is about to start
    return is_full() || join_table_.is_held() ? WaitCause::kPeer : WaitCause::kPublish;
  }
  if (head->done()) return WaitCause::kPublish;
  return head->is_fetching() ? WaitCause::kFetch : WaitCause::kPrep;
}

WaitCause HoldUp::of_reader(std::uint64_t released) const {
  const WaitCause cause = present();
  if (is_own(released)) return WaitCause::kPublish;
  if (cause != WaitCause::kPrep) return cause;
  if (const std::shared_ptr<const InFlightBatch> second = in_flight_.second()) {
    return second->is_fetching() ? WaitCause::kFetch : cause;
  }
  // It has no slot, because another reader holds them.
  return is_full() && ring_.released() < released ? WaitCause::kPeer : cause;
}

bool HoldUp::is_own(std::uint64_t released) const {
  return is_full() && in_flight_.head() == nullptr && ring_.released() >= released;
}

bool HoldUp::by_readers() const {
  const std::uint64_t released = ring_.released();  // first: it only grows towards the other
  const bool full = is_full() || ring_.published() - released >= descriptors_live_;
  return full && in_flight_.size() == 0;
}

}  // namespace echoline::engine
