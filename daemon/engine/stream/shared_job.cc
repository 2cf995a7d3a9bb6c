#include "engine/stream/shared_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agree/run.h"
#include "engine/stream/change_check.h"

namespace echoline::engine {
namespace {

FactorPlace place_of(const agree::Change& change) {
  return {.epoch = change.place.epoch,
          .change = {change.place.block, change.factor},
          .since = {change.place.since_epoch, change.place.since_row}};
}

std::vector<std::pair<std::uint64_t, std::uint32_t>> list_of(const FactorHistory& factors,
                                                             std::uint32_t epoch) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> list;
  for (const plan::FactorChange& change : factors.list(epoch)) {
    list.emplace_back(change.block, change.factor);
  }
  return list;
}

bool has(const Pass& pass, const agree::Change& change) {
  return list_of(pass.factors(), change.place.epoch) == change.list;
}

Status another_order(const agree::Change& change) {
  return {Code::kFailedPrecondition,
          fmt::format("the hosts of the job changed the echo factor at block {} of epoch {}, and "
                      "this host had other changes before; start the job on all hosts from the "
                      "same state",
                      change.place.block, change.place.epoch)};
}

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

agree::Reply SharedJob::hold(std::uint32_t factor) {
  agree::Reply reply;
  const std::vector<std::shared_ptr<Pass>> passes = this->passes();
  if (passes.empty()) {
    reply.refusal = "its ranks have left";
    return reply;
  }
  const Status possible = echo_factor_.control().check(factor, &*job_);
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
  return reply;
}

Result<agree::Change> SharedJob::change_from(const agree::Reply& latest,
                                             agree::Change change) const {
  const std::vector<std::shared_ptr<Pass>> passes = this->passes();
  if (passes.empty()) return Status(Code::kFailedPrecondition, "its ranks have left");
  const FactorPlace place =
      place_of(*passes.front(), change.factor,
               {.batch_rows_most = latest.batch_rows_most, .foremost = {latest.epoch, latest.row}});
  FactorHistory after = passes.front()->factors();
  after.append(place.epoch, place.change, place.since);
  change.state = agree::Change::State::kDecided;
  change.place = {place.epoch, place.change.block, place.since.epoch, place.since.row};
  change.list = list_of(after, place.epoch);
  return change;
}

Result<std::vector<FactorSwitch>> SharedJob::make(const agree::Change& change) {
  decided_.push_back(change);
  if (decided_.size() > agree::Run::kLogMost) decided_.pop_front();
  const std::vector<std::shared_ptr<Pass>> passes = this->passes();
  std::vector<FactorSwitch> switches;
  const auto make_in = [&](Pass& pass) { return bring_up_to_date(pass, start_in(pass)); };
  if (is_new_) {
    // Other jobs had these changes when they were made.
    for (const std::shared_ptr<Pass>& pass : passes) ECHOLINE_TRY(make_in(*pass));
    return switches;
  }
  ECHOLINE_ASSIGN(switches, echo_factor_.apply(change.factor, passes, make_in));
  return switches;
}

Status SharedJob::bring_up_to_date(Pass& pass, plan::Position start) const {
  // Changes that the pass has, or that lie before its trainers' states, come first.
  const auto is_done = [&](const agree::Change& change) {
    return plan::Position{change.place.since_epoch, change.place.since_row} <= start ||
           has(pass, change);
  };
  const auto last = std::find_if(decided_.rbegin(), decided_.rend(), is_done);
  for (auto change = last.base(); change != decided_.end(); ++change) {
    ECHOLINE_TRY(change_factor_at(pass, place_of(*change)));
    if (!has(pass, *change)) return another_order(*change);
  }
  return {};
}

}  // namespace echoline::engine
