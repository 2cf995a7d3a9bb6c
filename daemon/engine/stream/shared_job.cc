#include "engine/stream/shared_job.h"

#include <algorithm>
#include <utility>

#include "agree/run.h"
#include "engine/stream/agreed_change.h"
#include "engine/stream/change_check.h"

namespace echoline::engine {
namespace {

using Kind = agree::Change::Kind;

}  // namespace

bool SharedJob::is_member(const Consumer& consumer) const {
  return job_.has_value() && consumer.job == *job_ && consumer.has_other_hosts();
}

void SharedJob::note_joined(const Consumer& consumer, bool returns) {
  tick();
  const bool may_agree = core_.agrees && consumer.has_other_hosts();
  if (may_agree && !job_.has_value()) {
    job_ = consumer.job;
    ++session_;
    continues_ = returns;
    holding_ = is_new_ = true;
  }
  Pass& pass = *consumer.pass;
  // It was built for a trainer of another job, which is not there.
  if (!is_member(consumer)) return holds(pass) ? void() : pass.join_table().release();
  if (holding_) hold(consumer.pass);
  const Status status = bring_up_to_date(pass, consumer.start);
  if (!status.ok()) return core_.fail(status);
  if (!holding_) pass.join_table().release();
}

void SharedJob::tick() {
  const auto& all = consumers_.all();
  const auto is_member = [this](const Consumer& consumer) { return this->is_member(consumer); };
  if (!job_.has_value() || std::any_of(all.begin(), all.end(), is_member)) return;
  release();
  job_.reset();
  decided_.clear();
}

void SharedJob::hold(const std::shared_ptr<Pass>& pass) {
  pass->join_table().hold();
  if (!holds(*pass)) held_.push_back(pass);
}

bool SharedJob::holds(const Pass& pass) const {
  return std::any_of(held_.begin(), held_.end(),
                     [&](const std::weak_ptr<Pass>& held) { return held.lock().get() == &pass; });
}

void SharedJob::release() {
  holding_ = is_new_ = false;
  for (const std::weak_ptr<Pass>& held : std::exchange(held_, {})) {
    if (const std::shared_ptr<Pass> pass = held.lock()) pass->join_table().release();
  }
}

std::optional<SharedJob::View> SharedJob::view() const {
  if (!job_.has_value()) return std::nullopt;
  View view{.job = *job_, .session = session_, .continues = continues_, .ranks = {}};
  for (const Consumer& consumer : consumers_.all()) {
    if (is_member(consumer)) view.ranks.push_back(consumer.rank);
  }
  if (view.ranks.empty()) return std::nullopt;
  std::sort(view.ranks.begin(), view.ranks.end());
  return view;
}

std::vector<std::shared_ptr<Pass>> SharedJob::passes() const {
  std::vector<std::shared_ptr<Pass>> passes;
  for (const Consumer& consumer : consumers_.all()) {
    const bool known = std::find(passes.begin(), passes.end(), consumer.pass) != passes.end();
    if (is_member(consumer) && !known) passes.push_back(consumer.pass);
  }
  return passes;
}

plan::Position SharedJob::start_in(const Pass& pass) const {
  plan::Position start;
  for (const Consumer& consumer : consumers_.all()) {
    if (is_member(consumer) && consumer.pass.get() == &pass)
      start = std::max(start, consumer.start);
  }
  return start;
}

Weights SharedJob::weights() const {
  const std::vector<std::shared_ptr<Pass>> passes = this->passes();
  return passes.empty() ? Weights() : passes.front()->history().weights.weights();
}

Status SharedJob::check(const agree::Change& change) const {
  if (change.kind == Kind::kWeights) return order_.weights().check(change.values, &*job_);
  return order_.echo_factor().control().check(change.values.front(), &*job_);
}

agree::Reply SharedJob::hold(const agree::Change& change) {
  agree::Reply reply;
  const std::vector<std::shared_ptr<Pass>> passes = this->passes();
  if (passes.empty()) {
    reply.refusal = "its ranks have left";
    return reply;
  }
  const Status possible = check(change);
  if (!possible.ok()) reply.refusal = possible.message();
  holding_ = true;
  for (const std::shared_ptr<Pass>& pass : passes) hold(pass);
  // All its ranks read the same pass, else the check has refused.
  const Pass& pass = *passes.front();
  const Readers readers = readers_of(pass, consumers_, core_);
  const plan::Position position = first_free(pass, readers);
  reply.epoch = position.epoch;
  reply.row = position.row;
  reply.batch_rows_most = readers.batch_rows_most;
  reply.factor = pass.factors().factor();
  reply.weights = pass.history().weights.weights();
  return reply;
}

Result<agree::Change> SharedJob::change_from(const agree::Reply& latest,
                                             agree::Change change) const {
  const std::vector<std::shared_ptr<Pass>> passes = this->passes();
  if (passes.empty()) return Status(Code::kFailedPrecondition, "its ranks have left");
  return decided_in(*passes.front(), latest, std::move(change));
}

Result<SharedJob::Made> SharedJob::make(const agree::Change& change) {
  decided_.push_back(change);
  if (decided_.size() > agree::Run::kLogMost) decided_.pop_front();
  const std::vector<std::shared_ptr<Pass>> passes = this->passes();
  Made made;
  const auto make_in = [&](Pass& pass) { return bring_up_to_date(pass, start_in(pass)); };
  if (is_new_) {
    // Other jobs had these changes when they were made.
    for (const std::shared_ptr<Pass>& pass : passes) ECHOLINE_TRY(make_in(*pass));
    change.is_factor() ? order_.echo_factor().control().begin_with(change.values.front())
                       : order_.weights().begin_with(change.values);
  } else if (change.is_factor()) {
    ECHOLINE_ASSIGN(made.factors,
                    order_.echo_factor().apply(change.values.front(), passes, make_in));
  } else {
    ECHOLINE_ASSIGN(made.weights, order_.weights().apply(change.values, passes, make_in));
  }
  return made;
}

Status SharedJob::bring_up_to_date(Pass& pass, plan::Position start) const {
  ECHOLINE_TRY(bring_up_to_date(pass, start, Kind::kFactor));
  return bring_up_to_date(pass, start, Kind::kWeights);
}

// Each kind by itself: a change of the one can be decided first and begin after one of the other.
Status SharedJob::bring_up_to_date(Pass& pass, plan::Position start, Kind kind) const {
  std::vector<const agree::Change*> lacking;
  for (auto change = decided_.rbegin(); change != decided_.rend(); ++change) {
    if (change->kind != kind) continue;
    // Those before a change that the pass has, or that lies before its trainers' states, are there.
    const plan::Position since{change->place.since_epoch, change->place.since_row};
    if (since <= start || has_change(pass, *change)) break;
    lacking.push_back(&*change);
  }
  for (auto change = lacking.rbegin(); change != lacking.rend(); ++change) {
    ECHOLINE_TRY(make_change(pass, **change));
  }
  return {};
}

}  // namespace echoline::engine
