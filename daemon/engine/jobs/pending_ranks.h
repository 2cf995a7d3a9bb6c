// Ranks and jobs that a pass waits for: a reader in their place keeps its slots from being
// overwritten before they have come.
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

// One thread at a time. Each wait is a reader of the pass's ring that never moves.
class PendingRanks {
 public:
  explicit PendingRanks(std::string stream_name) : stream_name_(std::move(stream_name)) {}

  // Keeps the pass at its start until a rank of each of these jobs has attached, to any pass
  // (publish.jobs).
  Status await_jobs(const std::shared_ptr<Pass>& pass, const std::vector<std::string>& names);

  // A trainer has joined its pass. If its job begins with it, the pass waits a limited time for the
  // job's other ranks, from `first_sequence` on.
  void note_rank(const Consumer& consumer, std::uint64_t first_sequence, bool begins,
                 std::uint64_t now_ns);

  // A trainer was notified to move to `pass`, which begins at `start`: the pass waits for it there
  // while the trainer lives and until its time is over.
  void await_moving(const std::shared_ptr<Pass>& pass, plan::Position start,
                    const Consumer& consumer);

  // Where this job began, while some of its ranks are pending.
  std::optional<plan::Position> start_of(const Job& job) const;

  // Ends the waits whose ranks have all come, whose time is over, or whose job has left the pass.
  // Returns the jobs of which ranks did not come in time.
  using IsReading = std::function<bool(const Pass&, const Job&)>;
  struct Late {
    Job job;
    Status status;
  };
  std::vector<Late> release(std::uint64_t now_ns, const IsReading& is_reading);
  // The jobs of publish.jobs that have not come yet, as text; empty if none.
  std::string missing_jobs() const;
  // Whether this pass waits for a rank or for a trainer that moves.
  bool awaits_rank(const Pass& pass) const;
  // Whether this pass waits for a job of publish.jobs.
  bool awaits_job(const Pass& pass) const;
  // The readers that keep slots for somebody who is to come.
  struct Place {
    std::shared_ptr<Pass> pass;
    std::uint64_t reader = 0;
    std::string job;
  };
  std::vector<Place> places() const;
  // Of a pass that ends.
  void forget(const Pass& pass);

 private:
  struct Wait {
    std::shared_ptr<Pass> pass;
    std::uint64_t reader = 0;
    Job job;
    plan::Position start;
    std::set<std::uint32_t> came;
    std::uint32_t ranks = 0;                // awaited in all, those that came among them
    std::map<std::uint32_t, pid_t> moving;  // ranks that did not come yet, and their processes
    std::uint64_t until_ns = 0;
  };
  struct NamedJob {
    std::shared_ptr<Pass> pass;
    std::uint64_t reader = 0;
    std::string name;
    bool has_come = false;
  };

  // Adds to `late` if it is over because ranks did not come in time.
  bool is_over(Wait& wait, std::uint64_t now_ns, const IsReading& is_reading,
               std::vector<Late>& late) const;

  const std::string stream_name_;
  std::list<Wait> waits_;
  std::list<NamedJob> named_jobs_;
};

}  // namespace echoline::engine
