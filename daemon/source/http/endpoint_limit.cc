#include "source/http/endpoint_limit.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/shown_address.h"
#include "source/http/learned_limits.h"

namespace echoline::source {
namespace {

// Not exactly the limit: several requests may end in one step of their thread before it starts the
// next ones.
bool is_nearly(std::size_t in_flight, std::size_t limit) { return in_flight >= limit - limit / 4; }

}  // namespace

std::shared_ptr<EndpointLimit> EndpointLimit::of(const std::string& endpoint) {
  // One limit per endpoint and process. Weak pointers: the last member destroys it.
  static Mutex mutex;
  static std::unordered_map<std::string, std::weak_ptr<EndpointLimit>> limits ECHOLINE_GUARDED_BY(
      mutex);
  const MutexLock lock(mutex);
  // Endpoints that no stream uses any more.
  std::erase_if(limits, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<EndpointLimit>& shared = limits[endpoint];
  std::shared_ptr<EndpointLimit> limit = shared.lock();
  if (!limit) shared = limit = std::make_shared<EndpointLimit>(endpoint);
  return limit;
}

EndpointLimit::EndpointLimit(std::string endpoint)
    : endpoint_(std::move(endpoint)), search_(LearnedLimits::of_process().find(endpoint_)) {}

std::size_t EndpointLimit::limit() const {
  const MutexLock lock(mutex_);
  return limit_now();
}

std::size_t EndpointLimit::limit_now() const {
  return std::min(accepted_.limit(), std::max<std::size_t>(search_.limit(), 1));
}

bool EndpointLimit::is_reduced() const {
  const MutexLock lock(mutex_);
  return accepted_.is_reduced();
}

std::vector<EndpointRates> EndpointLimit::rates() const {
  const std::string endpoint = shown_address(endpoint_);
  std::vector<EndpointRates> all;
  const MutexLock lock(mutex_);
  for (const bool short_answers : {false, true}) {
    std::vector<RatePoint> points = search_.rates(short_answers).points();
    if (!points.empty()) all.push_back({endpoint, short_answers, std::move(points)});
  }
  if (all.empty()) all.push_back({endpoint, search_.has_short_answers()});
  for (EndpointRates& rates : all) rates.usual_rate = search_.usual_rate();
  return all;
}

void EndpointLimit::join(Member& member) {
  // From here on the member's requests count for the cap.
  const MutexLock lock(mutex_);
  cap_ += member.cap_;
  accepted_.set_cap(static_cast<double>(cap_));
  search_.set_cap(cap_);
}

void EndpointLimit::leave(Member& member) {
  LearnedLimit learned;
  {
    const MutexLock lock(mutex_);
    std::erase(waiting_, &member);
    learned = search_.learned();  // before set_cap(), which begins another search
    cap_ -= member.cap_;
    // Attempts that are cancelled with their member never call end().
    in_flight_ -= member.in_flight_;
    accepted_.set_cap(static_cast<double>(cap_));
    search_.set_cap(cap_);
    wake_next();
  }
  if (learned.limit != 0) LearnedLimits::of_process().note(endpoint_, learned);
}

bool EndpointLimit::begin(Member& member) {
  const MutexLock lock(mutex_);
  const std::size_t room = limit_now() - std::min(limit_now(), in_flight_);
  // A member may start if it has waited longest, or if there is room for all that wait and one
  // more: then nobody is overtaken.
  const bool is_next = member.waiting_for_room_ && waiting_.front() == &member;
  if (room == 0 || (!is_next && room <= waiting_.size())) {
    if (!std::exchange(member.waiting_for_room_, true)) waiting_.push_back(&member);
    return false;
  }
  ++in_flight_;
  if (is_next) waiting_.pop_front();
  // A member that had not waited longest but found room for all keeps its position, for its other
  // requests.
  member.waiting_for_room_ = member.waiting_for_room_ && !is_next;
  // There may be room for the next one, too.
  wake_next();
  return true;
}

void EndpointLimit::end(Member& member, AttemptEnd how, const AnswerSeen& answer,
                        std::uint64_t now_ns) {
  const MutexLock lock(mutex_);
  if (how == AttemptEnd::kGood) {
    // Rates count only while the demand reaches the limit, or the cap of this member.
    const bool wanted =
        // A member that uses all of its own cap cannot want more.
        is_nearly(in_flight_, limit_now()) || is_nearly(member.in_flight_, member.cap_);
    search_.ended(answer, in_flight_, wanted, now_ns);
    accepted_.good(now_ns);
  } else if (how == AttemptEnd::kRefused) {
    // The rate of this window does not come from the number of requests.
    search_.note_disturbance();
    accepted_.refused(now_ns);
  }
  --in_flight_;
  --member.in_flight_;
  wake_next();
}

void EndpointLimit::withdraw(Member& member) {
  const MutexLock lock(mutex_);
  if (!std::exchange(member.waiting_for_room_, false)) return;
  std::erase(waiting_, &member);
  wake_next();
}

// Wakes only one: it takes the room in begin(), which then wakes the next.
void EndpointLimit::wake_next() {
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
  ++in_flight_;
  return true;
}

void EndpointLimit::Member::end(AttemptEnd how, const AnswerSeen& answer, std::uint64_t now_ns) {
  limit_->end(*this, how, answer, now_ns);
}

void EndpointLimit::Member::withdraw() { limit_->withdraw(*this); }

}  // namespace echoline::source
