#include "base/step_times.h"

#include <algorithm>
#include <ctime>

#include "base/clock.h"

namespace echoline {
namespace {

std::uint64_t thread_cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

StepTimes*& StepTimes::of_thread() {
  thread_local StepTimes* times = nullptr;
  return times;
}

void StepTimes::begin(const std::string& other, bool keeps_stays) {
  entries_.clear();
  stays_.clear();
  keeps_stays_ = keeps_stays;
  entries_.push_back({&other, 0});
  present_ = 0;
  // Replaced by a difference in end().
  cpu_ns_ = thread_cpu_ns();
  begin_ns_ = since_ns_ = monotonic_ns();
  of_thread() = this;
}

void StepTimes::enter(const std::string& step) {
  charge(monotonic_ns());
  // A handful of steps: a search is faster than a table.
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&step](const Entry& entry) { return entry.step == &step; });
  present_ = static_cast<std::size_t>(found - entries_.begin());
  if (found == entries_.end()) entries_.push_back({&step, 0});
}

void StepTimes::end() {
  of_thread() = nullptr;
  charge(monotonic_ns());
  wall_ns_ = since_ns_ - begin_ns_;
  cpu_ns_ = thread_cpu_ns() - cpu_ns_;
}

void StepTimes::charge(std::uint64_t now_ns) {
  entries_[present_].ns += now_ns - since_ns_;
  // The first entry is `other`.
  if (keeps_stays_ && present_ != 0 && stays_.size() < kStaysMax) {
    stays_.push_back({entries_[present_].step, since_ns_, now_ns});
  }
  since_ns_ = now_ns;
}

}  // namespace echoline
