#include "engine/stream/attach_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "engine/open/fingerprint.h"
#include "plan/buckets.h"

namespace echoline::engine {
namespace {

// The ring layout from which on client libraries know batches with fewer rows than the largest one.
constexpr std::uint32_t kLayoutMinorWithBuckets = 3;

const char* what_fixes_batches(const StreamCore& core) {
  return core.has_buckets() ? "buckets" : "batch echo";
}

// All ranks get equally many rows of each batch.
Status check_buckets(const shm::AttachRequest& request, const Job& job, const StreamCore& core) {
  if (!core.has_buckets()) return {};
  if (request.layout_minor < kLayoutMinorWithBuckets) {
    return Status(
        Code::kFailedPrecondition,
        fmt::format("stream '{}' has length buckets, which this client library of an older "
                    "release (ring layout {}.{}) knows nothing of; install the one of the "
                    "daemon's release",
                    core.name, shm::kLayoutMajor, request.layout_minor));
  }
  const plan::Buckets& buckets = *core.plan->spec().buckets;
  for (std::size_t bucket = 0; bucket < buckets.count(); ++bucket) {
    const auto [up_to, rows] = buckets.shape(bucket);
    if (rows % job.world_size == 0) continue;
    return Status(Code::kInvalidArgument,
                  fmt::format("batches of the bucket up to {} have {} rows, no multiple of world "
                              "size {}; set batch.buckets.multiple to a multiple of it",
                              up_to, rows, job.world_size));
  }
  return {};
}

// First the plan version: with another one, equal fingerprints would still mean another order.
Status check_state(const shm::AttachRequest& request, const StreamCore& core) {
  const ring::RingSpec& spec = core.ring_spec;
  // 0: the client gave a fingerprint without a state (`expect`).
  if (request.plan_version != 0 && request.plan_version != spec.plan_version) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("the state was made under plan version {}, this daemon has {}",
                              request.plan_version, spec.plan_version));
  }
  Fingerprint theirs;
  std::copy(std::begin(request.fingerprint), std::end(request.fingerprint), theirs.begin());
  if (const std::string what = difference(theirs, spec.fingerprint); !what.empty()) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("the state is of {}: its fingerprint (or the one expected) is {}, "
                              "that of stream '{}' is "
                              "{}; start without the state, or from the data and the settings it "
                              "was made with",
                              what, to_hex(theirs), core.name, to_hex(spec.fingerprint)));
  }
  return {};
}

}  // namespace

Status check_request(const shm::AttachRequest& request, const Job& job, const StreamCore& core) {
  if (job.world_size == 0 || request.rank >= job.world_size) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("rank {} of world size {}: ranks count from 0", request.rank, job.world_size));
  }
  if (job.batch_size % job.world_size != 0) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("batch size {} (of all ranks together) is no multiple of world size {}; take "
                    "a batch_size that is one",
                    job.batch_size, job.world_size));
  }
  // A slot is repeated as a whole, or has the records of one bucket: batches cannot be cut in
  // another way.
  if (core.plan->spec().fixed_batches() && job.batch_size != core.ring_spec.batch_rows) {
    return Status(Code::kInvalidArgument,
                  fmt::format("a stream with {} has batches of {} only, {} was asked for",
                              what_fixes_batches(core), core.ring_spec.batch_rows, job.batch_size));
  }
  ECHOLINE_TRY(check_buckets(request, job, core));
  return request.has_fingerprint == 0 ? Status() : check_state(request, core);
}

Result<OrderHistory> history_of(const shm::AttachRequest& request, const StreamCore& core) {
  // The request comes from another process: its counts may be anything.
  const std::size_t factors = std::min<std::size_t>(request.change_count, shm::kFactorChangesMax);
  const std::size_t weights = std::min<std::size_t>(request.weight_count, shm::kWeightChangesMax);
  ECHOLINE_ASSIGN(
      FactorHistory of_factors,
      FactorHistory::of_state(*core.plan, request.epoch, std::span(request.changes, factors)));
  ECHOLINE_ASSIGN(
      WeightHistory of_weights,
      WeightHistory::of_state(*core.plan, request.epoch, std::span(request.weights, weights)));
  return OrderHistory(std::move(of_factors), std::move(of_weights));
}

Result<plan::Position> settle_position(plan::Position position, const FactorHistory& factors,
                                       const StreamCore& core) {
  // Also checks that the row lies in the epoch and the epoch below the maximum.
  ECHOLINE_ASSIGN(const plan::Position settled,
                  plan::normalise(position, factors.rows(position.epoch)));
  const std::uint32_t batch_rows = core.ring_spec.batch_rows;
  if (core.plan->spec().fixed_batches() && settled.row % batch_rows != 0) {
    return Status(Code::kInvalidArgument,
                  fmt::format("row {}: with {} every batch starts at a multiple of {}", settled.row,
                              what_fixes_batches(core), batch_rows));
  }
  return settled;
}

}  // namespace echoline::engine
