// A stream that trainers attach to: its passes, and the trainers that read them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/api/attach.h"
#include "engine/api/stats.h"
#include "engine/jobs/reattach_barrier.h"
#include "engine/open/open_stream.h"
#include "engine/stream/admission.h"
#include "engine/stream/attach_queue.h"
#include "engine/stream/attendance.h"
#include "engine/stream/job_splitter.h"
#include "engine/stream/order_control.h"
#include "engine/stream/pass_builder.h"
#include "engine/stream/pass_set.h"
#include "engine/stream/shared_job.h"

namespace echoline::engine {

// What the owner of a stream has to do after a call: none of it is done under the registry's lock
// except the notices, which only queue messages.
struct StreamWork {
  // Passes that nobody reads, for retire_pass().
  std::vector<std::shared_ptr<Pass>> retired;
  // A pass that is to end while trainers still read what it has published.
  std::shared_ptr<Pass> ended;
  // A pass to build; the answer goes to pass_built(). At most one is under construction.
  std::optional<Pass::Options> build;
  std::vector<TrainerNotice> notices;
  OrderSettings kept;  // over restarts
};

// Why a pass is under construction.
struct PassConstruction {
  std::uint64_t order_changes = 0;                 // before it
  std::uint64_t connection = 0;                    // for this trainer,
  std::optional<JobSplitter::Request> split = {};  // or to move jobs to it
};

// Under the registry's lock, and never slow: the stream starts and stops no pass, its owner does,
// by take_work() after each call.
class Stream {
 public:
  Stream(OpenedStream opened, v1::Stream definition, std::uint32_t workers,
         ReattachBarrier reattach_barrier);
  // Stops what is left. Slow: without the registry's lock, when no other thread stops its passes.
  ~Stream();

  // Changes of it are for a stream that takes trainers (check_open).
  OrderControl& order() { return order_; }
  // Of OrderAgreement.
  SharedJob& shared_job() { return shared_job_; }
  // Its first pass, which fills a ring from the first row on so that the first trainer finds
  // batches ready. Before the stream is known to anyone else.
  Status warm_up(BuiltPass pass, std::uint64_t now_ns);

  // Replies at once, or once a pass was built or the trainers of an earlier daemon are back.
  void attach(AttachCall call, std::uint64_t now_ns);
  // False if that connection reads another stream.
  bool withdraw(std::uint64_t connection, std::uint64_t now_ns);
  // A hundred times a second.
  void tick(std::uint64_t now_ns);
  // The pass of StreamWork::build, or why there is none.
  void pass_built(Result<BuiltPass> built, std::uint64_t now_ns);
  StreamWork take_work();
  // Takes out one pass that nobody reads or waits for, or null: its memory is needed elsewhere.
  std::shared_ptr<Pass> give_up_idle_pass();

  // The first failure counts.
  void set_failed(const Status& status, std::uint64_t now_ns);
  const Status& failure() const { return failure_; }
  // Takes no more trainers.
  void close(std::uint64_t now_ns);
  bool is_closed() const { return closed_; }
  // Ok while it takes trainers; else the reason.
  Status check_open() const;
  // Every trainer has released all that is published.
  bool is_drained() const { return attendance_.consumers().are_drained(); }
  std::vector<std::shared_ptr<Pass>> passes() const { return passes_.passes(); }
  std::vector<std::uint64_t> connections() const { return attendance_.consumers().connections(); }

  const std::shared_ptr<StreamCore>& core() const { return core_; }
  const v1::Stream& definition() const { return definition_; }
  StreamStats stats(std::uint64_t now_ns) const;
  StreamMeter& meter() { return attendance_.meter(); }
  std::map<std::string, std::string> states() const;
  // Attached, or expected back from an earlier daemon.
  std::vector<Trainer> trainers() const;
  bool take_trainers_changed() { return attendance_.consumers().take_changed(); }

 private:
  // Answers waiting trainers, and requests the pass that the first of them needs.
  void admit_waiting(std::uint64_t now_ns);
  // Makes a trainer that has joined its pass one of the consumers.
  Attachment place(Consumer consumer, const JoinedPass& joined, const AttachCall& call,
                   const Start& start);
  // Moves jobs to a pass that was built for them, or drops it where that is no longer needed.
  void finish_split(const JobSplitter::Request& request, Result<BuiltPass> built,
                    std::uint64_t now_ns);
  // Requests the pass that is needed to split slow jobs off.
  void request_split(std::uint64_t now_ns);
  // Forgets the passes in all lists and hands them to the caller to be destroyed.
  void retire(std::vector<std::shared_ptr<Pass>> passes);

  const v1::Stream definition_;
  const std::shared_ptr<StreamCore> core_;
  const MemoryBudget::Reservation cache_;
  Status failure_;
  bool closed_ = false;
  PassSet passes_;
  Attendance attendance_;
  ReattachBarrier reattach_barrier_;
  const PassSet::IsIdle is_idle_ = [this](const Pass& pass) { return attendance_.is_idle(pass); };
  std::optional<PassConstruction> construction_;
  StreamWork work_;
  // They refer to the members above:
  Admission admission_;
  OrderControl order_;
  SharedJob shared_job_;
  JobSplitter job_splitter_;
  AttachQueue attach_queue_;
};

}  // namespace echoline::engine
