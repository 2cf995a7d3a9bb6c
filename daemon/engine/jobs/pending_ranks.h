// Places kept in a pass for trainers that have not come yet: nothing is overwritten before they had
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/jobs/consumer.h"

namespace echoline::engine {

// One thread at a time. Each place is a reader of its ring that never moves.
class PendingRanks {
 public:
  explicit PendingRanks(std::string stream_name) : stream_name_(std::move(stream_name)) {}

  // Until a rank of each of these jobs has come, to whichever pass (publish.jobs).
  Status await_jobs(const std::shared_ptr<Pass>& pass, const std::vector<std::string>& names);

  // A trainer was given its place. If its job begins with it, the other ranks are awaited there for
  // a while, from `first_sequence` on.
  void note_rank(const Consumer& consumer, std::uint64_t first_sequence, bool begins,
                 std::uint64_t now_ns);

  // A trainer was told to move to `pass`, and is awaited there from its beginning on, as long as it
  // lives and until its time is over.
  void await_mover(const std::shared_ptr<Pass>& pass, const Consumer& mover);

  // Where the other ranks of this job began, while some of them are still awaited.
  std::optional<plan::Position> start_of(const Job& job) const;

  // Gives places back whose ranks have all come, were waited for long enough, or whose job has left
  // its pass. Jobs whose ranks were not all worth waiting for are returned.
  using IsReading = std::function<bool(const Pass&, const Job&)>;
  struct Late {
    Job job;
    Status status;
  };
  std::vector<Late> release(std::uint64_t now_ns, const IsReading& is_reading);
  // Jobs that have not come yet, of those that a pass waits for (publish.jobs).
  std::string missing_jobs() const;
  // Whether somebody is on the way to this pass.
  bool awaits(const Pass& pass) const;
  // Of a pass that ends.
  void forget(const Pass& pass);

 private:
  struct Hold {
    std::shared_ptr<Pass> pass;
    std::uint64_t reader = 0;
    Job job;
    plan::Position start;
    std::set<std::uint32_t> came;
    std::uint32_t ranks = 0;                // awaited in all, those that came among them
    std::map<std::uint32_t, pid_t> movers;  // that did not come yet
    std::uint64_t until_ns = 0;
  };
  struct NamedJob {
    std::shared_ptr<Pass> pass;
    std::uint64_t reader = 0;
    std::string name;
    bool has_come = false;
  };

  bool is_over(Hold& hold, std::uint64_t now_ns, const IsReading& is_reading,
               std::vector<Late>& late) const;

  const std::string stream_name_;
  std::list<Hold> pending_ranks_;
  std::list<NamedJob> named_;
};

}  // namespace echoline::engine
