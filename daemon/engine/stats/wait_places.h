// Where the waits of a stream's trainers were spent: for fetch, the place and the store that was
// asked; for prep, the steps that the workers were at.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "engine/api/stats.h"
#include "engine/open/step_account.h"

namespace echoline::engine {

// Not thread safe.
class WaitPlaces {
 public:
  void add_fetch(FetchPlace place, std::uint64_t ns) {
    fetch_ns_[static_cast<std::size_t>(place)] += ns;
  }
  // Of the waits at the store: which one. Empty: the same one as before.
  void add_store(const std::string& store, std::uint64_t ns);

  // About once a second: what trainers have waited for prep, and what the steps have cost, since
  // the stream's creation. A wait is spread over the steps by what they cost in the same time. It
  // stays for the next call while no row was timed.
  using Steps = std::map<std::string, StepAccount::Cost>;
  void see_steps(std::uint64_t prep_waited_ns, const Steps& steps);

  void report(StreamStats& stats) const;

 private:
  std::array<std::uint64_t, kFetchPlaceNames.size()> fetch_ns_{};  // by FetchPlace
  std::map<std::string, std::uint64_t> store_ns_;
  std::string last_store_ = "other";
  std::map<std::string, std::uint64_t> step_ns_;
  std::uint64_t prep_waited_ns_ = 0;  // that was spread
  Steps steps_;                       // as they were then
};

}  // namespace echoline::engine
