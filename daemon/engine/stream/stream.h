// A stream that trainers attach to: its passes, and who reads which of them from where.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "engine/api/attach.h"
#include "engine/api/stats.h"
#include "engine/jobs/consumer.h"
#include "engine/jobs/pending_ranks.h"
#include "engine/jobs/rank_events.h"
#include "engine/jobs/reattach_barrier.h"
#include "engine/jobs/slow_job_detector.h"
#include "engine/open/open_stream.h"
#include "engine/pass/pass.h"
#include "engine/runtime/memory_budget.h"
#include "engine/stats/rate_window.h"
#include "engine/stats/stage_clock.h"
#include "engine/stream/attach_check.h"

namespace echoline::engine {

// Called by one thread at a time (the engine guards it).
class Stream {
 public:
  Stream(OpenedStream opened, v1::Stream definition, MemoryBudget& budget, std::uint32_t workers,
         ReattachBarrier reunion);
  ~Stream();

  // Begins to fill a ring from the first row, so that the first trainer finds batches ready.
  Status warm_up();

  // Replies at once, or, to a trainer that comes back after a restart, in one of the next ticks.
  void attach(std::uint64_t connection, const shm::AttachRequest& request, const Peer& peer,
              const ReplyFunction& reply, std::uint64_t now_ns);
  // False if that connection reads another stream.
  bool withdraw(std::uint64_t connection);
  // Charges waits, lets go of ranks that did not come, takes off readers whose claims cannot be,
  // parts jobs from those that fall behind. What trainers are to be told of all this is returned.
  std::vector<TrainerNotice> tick(std::uint64_t now_ns);

  // Ends every pass; the connections that were reading are returned.
  std::vector<std::uint64_t> stop(shm::WriterState state);
  // No reader has published batches before it that it has not released.
  bool drained() const;
  void set_failed(const Status& status) { failure_ = status; }
  const Status& failure() const { return failure_; }
  // Takes no more trainers.
  void close() { closed_ = true; }
  bool is_closed() const { return closed_; }
  // Ok while it takes trainers; else why not.
  Status check_open() const;

  // Every pass goes on with `factor` (thousandths) from its next block on that is not planned, and
  // trainers that come without a state begin with it. kInvalidArgument for a factor out of bounds;
  // kFailedPrecondition, without anything changed, where the trainers could not all follow.
  Result<std::vector<FactorStart>> set_echo(std::uint32_t factor);

  const StreamCore& core() const { return *core_; }
  const v1::Stream& definition() const { return definition_; }
  StreamStats stats() const;
  std::map<std::string, std::string> states() const;
  // Attached, or expected back from the daemon before.
  std::vector<Trainer> trainers() const;
  // Whether trainers() says something else than when this was last asked.
  bool trainers_changed() { return std::exchange(trainers_changed_, false); }

 private:
  struct Place {
    std::shared_ptr<Pass> pass;
    ring::Ring::Reader reader;
  };
  struct Wish {
    plan::Position position;
    const Pass* like = nullptr;  // the pass whose factors are wanted, if any
  };

  Result<Attachment> find_and_join(std::uint64_t connection, const shm::AttachRequest& request,
                                   const Peer& peer, std::uint64_t now_ns);
  const Pass* pass_of_mates(const Job& job) const;
  Wish wish_of(const shm::AttachRequest& request, const Job& job) const;
  Result<Start> start_of(const shm::AttachRequest& request, const Job& job) const;
  Attachment attachment_of(const Consumer& consumer, const Place& place) const;
  bool reads_off_grid(const Consumer& consumer) const;
  bool needs_tails(const Consumer& consumer) const;
  Result<Place> find_place(const Start& start, const Consumer& consumer);
  Result<std::optional<Place>> join_any(const Start& start, const Consumer& consumer, bool parted);
  Result<std::shared_ptr<Pass>> start_pass(Pass::Options options);
  void retire_passes(bool parted_only);
  bool has_readers(const Pass& pass) const;
  bool is_reading(const Pass& pass, const Job& job) const;
  bool has_begun(const Job& job) const;
  void release_holds(std::uint64_t now_ns);
  void take_off(std::list<Consumer>::iterator consumer);
  void charge_waits(std::uint64_t now_ns);
  // Counters of all time, in stream_stats.cc.
  RecentStats totals(std::uint64_t now_ns) const;
  void tell_newcomer(const Consumer& consumer);
  void tell_of_missing_jobs(std::uint64_t now_ns);
  LaneSet lanes_of(const Consumer& consumer) const;
  void leave_lanes_to_other_hosts();
  void tell(std::uint64_t connection, shm::NoticeKind kind, const Status& status) {
    notices_.push_back({connection, kind, status});
  }

  // In stream_part.cc:
  void part_from_laggards(std::uint64_t now_ns);
  void part(const std::shared_ptr<Pass>& pass, const std::vector<SlowJobDetector::SlowJob>& behind,
            std::uint64_t now_ns);
  void give_up_movers(std::uint64_t now_ns);
  static plan::Position place_of(const Consumer& consumer);
  static std::uint64_t absolute_row(const Consumer& consumer, plan::Position position);

  // In stream_factor.cc:
  Status check_factor(std::uint32_t factor) const;
  Status check_trainers_follow(std::uint64_t epoch_rows) const;
  bool has_everywhere(std::uint32_t factor) const;
  Pass::Readers readers_of(const Pass& pass, std::vector<std::string>& jobs) const;
  Status check_knows_changes(const Consumer& consumer, const Start& start) const;
  std::vector<plan::FactorChange> changes_of(const Consumer& consumer,
                                             plan::Position position) const;

  const v1::Stream definition_;
  MemoryBudget& budget_;
  const std::shared_ptr<StreamCore> core_;
  const MemoryBudget::Reservation cache_;
  Status failure_;
  bool closed_ = false;
  PresentFactor factor_;
  std::vector<std::shared_ptr<Pass>> passes_;
  std::list<Consumer> consumers_;
  PendingRanks pending_ranks_;
  StageClock stages_;
  // Over all trainers, those that are gone as well.
  std::array<std::uint64_t, 5> waited_ns_{};  // by WaitCause
  std::uint64_t attached_ns_ = 0;
  std::uint64_t charged_at_ns_ = 0;
  RateWindow rate_window_;
  ReattachBarrier reattach_barrier_;
  SlowJobDetector slow_jobs_;
  SlowCounts slow_counts_;
  std::uint64_t part_again_ns_ = 0;  // not before: there was no memory for it
  RankEvents rank_events_;
  std::vector<TrainerNotice> notices_;
  bool trainers_changed_ = false;
};

}  // namespace echoline::engine
