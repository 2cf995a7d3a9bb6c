// What a change of the order while it is read asks of the trainers, and what it must respect of
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/jobs/consumers.h"
#include "engine/jobs/reattach_barrier.h"
#include "engine/open/stream_core.h"
#include "engine/pass/order_change.h"
#include "engine/stream/attendance.h"
#include "engine/stream/pass_set.h"

namespace echoline::engine {

// For messages: what changes, where it begins, what to do on several hosts; and the first minor
// ring layout that carries the changes to the trainers.
struct ChangeKind {
  const char* what;   // "the echo factor"
  const char* place;  // "block"
  const char* on_hosts;
  std::uint32_t layout_minor;
};
inline constexpr ChangeKind kFactorChange{
    "the echo factor", "block",
    "name an etcd, by which they agree, in daemon.etcd, or save a state, and start the job again "
    "after the factor was set on every host",
    2};
// Of a stream whose hosts agree.
inline constexpr ChangeKind kAgreedFactorChange{
    "the echo factor", "block", "hosts agree on one such job of a stream at a time", 2};
inline constexpr ChangeKind kWeightChange{
    "the weights", "row",
    "name an etcd, by which they agree, in daemon.etcd, or end the job with a checkpoint, and "
    "bring the change in a state that one host has read with it",
    4};
inline constexpr ChangeKind kAgreedWeightChange{
    "the weights", "row", "hosts agree on one such job of a stream at a time", 4};

// kFailedPrecondition: cannot be changed now, and why.
Status cannot_change(const ChangeKind& kind, const std::string& why);
// Every trainer can follow the change, and all ranks of a job meet it at one position. `agreed`: a
// job whose hosts agree on the position.
Status check_followers(const ChangeKind& kind, const Consumers& consumers,
                       const ReattachBarrier& barrier, const Job* agreed = nullptr);
// A trainer that attaches can follow the changes that there are.
Status check_layout(const ChangeKind& kind, const Consumer& consumer, const std::string& stream);

// What the trainers of a pass require of a change.
Readers readers_of(const Pass& pass, const Consumers& consumers, const StreamCore& core);
// Passes that nobody reads, before a change: their batches have the order from before, and would
// delay the next trainer. None while one waits for the jobs of publish.jobs.
std::vector<std::shared_ptr<Pass>> take_idle(PassSet& passes, const Attendance& attendance);
// The names of the jobs that read the pass.
std::vector<std::string> jobs_of(const Pass& pass, const Consumers& consumers);

// "job j rank 0"
std::string name_of(const Consumer& consumer);

}  // namespace echoline::engine
