#include "source/http/endpoint_limit.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace echoline::source {
namespace {

// Several may have ended in one step of their thread, which then begins as many anew.
bool is_most(std::size_t under_way, std::size_t limit) { return under_way >= limit - limit / 4; }

}  // namespace

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
  return limit_now();
}

std::size_t EndpointLimit::limit_now() const {
  return std::min(taken_.limit(), std::max<std::size_t>(fastest_.limit(), 1));
}

bool EndpointLimit::is_reduced() const {
  const std::lock_guard lock(mutex_);
  return taken_.is_reduced();
}

void EndpointLimit::join(Member& member) {
  const std::lock_guard lock(mutex_);
  cap_ += member.cap_;
  taken_.set_cap(static_cast<double>(cap_));
  fastest_.set_cap(cap_);
}

void EndpointLimit::leave(Member& member) {
  const std::lock_guard lock(mutex_);
  std::erase(waiting_, &member);
  cap_ -= member.cap_;
  in_flight_ -= member.under_way_;
  taken_.set_cap(static_cast<double>(cap_));
  fastest_.set_cap(cap_);
  wake_first();
}

bool EndpointLimit::begin(Member& member) {
  const std::lock_guard lock(mutex_);
  const std::size_t room = limit_now() - std::min(limit_now(), in_flight_);
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

void EndpointLimit::end(Member& member, AttemptEnd how, std::uint64_t bytes, std::uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (how == AttemptEnd::kGood) {
    const bool wanted = is_most(in_flight_, limit_now()) || is_most(member.under_way_, member.cap_);
    fastest_.ended(bytes, in_flight_, wanted, now_ns);
    taken_.good(now_ns);
  } else if (how == AttemptEnd::kRefused) {
    fastest_.disturbed();
    taken_.refused(now_ns);
  }
  --in_flight_;
  --member.under_way_;
  wake_first();
}

void EndpointLimit::withdraw(Member& member) {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(member.waits_, false)) return;
  std::erase(waiting_, &member);
  wake_first();
}

void EndpointLimit::wake_first() {
  if (!waiting_.empty() && in_flight_ < limit_now()) waiting_.front()->wake_();
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

void EndpointLimit::Member::end(AttemptEnd how, std::uint64_t bytes, std::uint64_t now_ns) {
  limit_->end(*this, how, bytes, now_ns);
}

void EndpointLimit::Member::withdraw() { limit_->withdraw(*this); }

}  // namespace echoline::source
