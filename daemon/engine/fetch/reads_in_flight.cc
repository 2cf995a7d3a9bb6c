#include "engine/fetch/reads_in_flight.h"

#include <utility>

namespace echoline::engine {

void ReadsInFlight::add(std::uint64_t number, const ReadInFlight& read) {
  const MutexLock lock(mutex_);
  reads_.emplace(number, read);
}

ReadInFlight ReadsInFlight::remove(std::uint64_t number) {
  const MutexLock lock(mutex_);
  return reads_.extract(number).mapped();
}

void ReadsInFlight::set_pause(std::string error, std::uint64_t until_ns) {
  const MutexLock lock(mutex_);
  pause_error_ = std::move(error);
  pause_until_ns_ = until_ns;
}

ReadsInFlight::View ReadsInFlight::view(std::size_t oldest_max, std::uint64_t now_ns) const {
  const MutexLock lock(mutex_);
  View view;
  view.count = reads_.size();
  // By number, so the first is the oldest.
  for (const auto& [number, read] : reads_) {
    if (view.oldest.size() == oldest_max) break;
    view.oldest.push_back(read);
  }
  if (now_ns < pause_until_ns_) view.pause_error = pause_error_;
  return view;
}

}  // namespace echoline::engine
