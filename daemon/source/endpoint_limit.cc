#include "source/endpoint_limit.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace echoline::source {

std::shared_ptr<EndpointLimit> EndpointLimit::of(const std::string& endpoint) {
  static std::mutex mutex;
  static std::unordered_map<std::string, std::weak_ptr<EndpointLimit>> limits;
  const std::lock_guard lock(mutex);
  std::erase_if(limits, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<EndpointLimit>& place = limits[endpoint];
  std::shared_ptr<EndpointLimit> limit = place.lock();
  if (!limit) place = limit = std::make_shared<EndpointLimit>();
  return limit;
}

std::size_t EndpointLimit::limit() const {
  const std::lock_guard lock(mutex_);
  return limit_.limit();
}

bool EndpointLimit::is_reduced() const {
  const std::lock_guard lock(mutex_);
  return limit_.is_reduced();
}

void EndpointLimit::join(Member& member) {
  const std::lock_guard lock(mutex_);
  cap_ += member.cap_;
  limit_.set_cap(static_cast<double>(cap_));
}

void EndpointLimit::leave(Member& member) {
  const std::lock_guard lock(mutex_);
  std::erase(waiting_, &member);
  cap_ -= member.cap_;
  in_flight_ -= member.under_way_;
  limit_.set_cap(static_cast<double>(cap_));
  wake_first();
}

bool EndpointLimit::begin(Member& member) {
  const std::lock_guard lock(mutex_);
  const std::size_t room = limit_.limit() - std::min(limit_.limit(), in_flight_);
  const bool is_next = member.waits_ && waiting_.front() == &member;
  if (room == 0 || (!is_next && room <= waiting_.size())) {
    if (!std::exchange(member.waits_, true)) waiting_.push_back(&member);
    return false;
  }
  ++in_flight_;
  if (is_next) waiting_.pop_front();
  // In the middle of the queue with room for all: it keeps its place, for its other requests.
  member.waits_ = std::find(waiting_.begin(), waiting_.end(), &member) != waiting_.end();
  wake_first();
  return true;
}

void EndpointLimit::end(AttemptEnd how, std::uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  --in_flight_;
  if (how == AttemptEnd::kGood) limit_.good(now_ns);
  if (how == AttemptEnd::kRefused) limit_.refused(now_ns);
  wake_first();
}

void EndpointLimit::withdraw(Member& member) {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(member.waits_, false)) return;
  std::erase(waiting_, &member);
  wake_first();
}

void EndpointLimit::wake_first() {
  if (!waiting_.empty() && in_flight_ < limit_.limit()) waiting_.front()->wake_();
}

EndpointLimit::Member::Member(std::shared_ptr<EndpointLimit> limit, std::size_t cap,
                              std::function<void()> wake)
    : limit_(std::move(limit)), cap_(cap), wake_(std::move(wake)) {
  limit_->join(*this);
}

EndpointLimit::Member::~Member() { limit_->leave(*this); }

bool EndpointLimit::Member::begin() {
  if (!limit_->begin(*this)) return false;
  ++under_way_;
  return true;
}

void EndpointLimit::Member::end(AttemptEnd how, std::uint64_t now_ns) {
  --under_way_;
  limit_->end(how, now_ns);
}

void EndpointLimit::Member::withdraw() { limit_->withdraw(*this); }

}  // namespace echoline::source
