#include "engine/stream/attach_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "engine/open/fingerprint.h"

namespace echoline::engine {
namespace {

bool has_batch_echo(const StreamCore& core) {
  return core.plan->spec().echo_point == plan::EchoPoint::kBatch;
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
  // A slot is repeated as a whole, so batches cannot be cut in another way.
  if (has_batch_echo(core) && job.batch_size != core.ring_spec.batch_rows) {
    return Status(Code::kInvalidArgument,
                  fmt::format("a stream with batch echo has batches of {} only, {} was asked for",
                              core.ring_spec.batch_rows, job.batch_size));
  }
  return request.has_fingerprint == 0 ? Status() : check_state(request, core);
}

Result<FactorHistory> factors_of(const shm::AttachRequest& request, const StreamCore& core) {
  // The request comes from another process: its count may be anything.
  const std::size_t count = std::min<std::size_t>(request.change_count, shm::kFactorChangesMax);
  return FactorHistory::of_state(*core.plan, request.epoch, std::span(request.changes, count));
}

Result<plan::Position> settle_position(plan::Position position, const FactorHistory& factors,
                                       const StreamCore& core) {
  // Also checks that the row lies in the epoch and the epoch below the maximum.
  ECHOLINE_ASSIGN(const plan::Position settled,
                  plan::normalise(position, factors.rows(position.epoch)));
  const std::uint32_t batch_rows = core.ring_spec.batch_rows;
  if (has_batch_echo(core) && settled.row % batch_rows != 0) {
    return Status(Code::kInvalidArgument,
                  fmt::format("row {}: with batch echo every batch starts at a multiple of {}",
                              settled.row, batch_rows));
  }
  return settled;
}

}  // namespace echoline::engine
