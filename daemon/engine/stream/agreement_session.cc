#include "engine/stream/agreement_session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/pluralize.h"
#include "config/values.h"
#include "engine/stream/agreed_change.h"
#include "engine/stream/change_check.h"

namespace echoline::engine {
namespace {

constexpr std::uint64_t kKeepNs = 4'000'000'000;
// Of R, which changes all the time.
constexpr std::uint64_t kPublishNs = 1'000'000'000;
constexpr double kSameRatio = 0.01;

Status cannot(const agree::Change& change, const std::string& why) {
  return cannot_change(change.is_factor() ? kAgreedFactorChange : kAgreedWeightChange, why);
}

// The last of the positions that hosts have named, with the largest batches; or why the hosts
// cannot make the change.
Result<agree::Reply> common_place(const agree::Run::Party& party) {
  agree::Reply latest;
  const agree::Reply& any = party.replies.begin()->second;
  for (const auto& [host, reply] : party.replies) {
    const auto member = party.members.find(host);
    const std::string name = member == party.members.end() ? host : member->second.host;
    if (!reply.refusal.empty())
      return Status(Code::kFailedPrecondition, name + ": " + reply.refusal);
    if (reply.factor != any.factor) {
      return Status(Code::kFailedPrecondition,
                    fmt::format("the hosts have different factors, {} and {}; start the job on all "
                                "hosts from the same state",
                                config::format_thousandths(any.factor),
                                config::format_thousandths(reply.factor)));
    }
    if (reply.weights != any.weights) {
      return Status(Code::kFailedPrecondition,
                    "the hosts have different weights; start the job on all hosts from the same "
                    "state");
    }
    if (std::pair(reply.epoch, reply.row) > std::pair(latest.epoch, latest.row)) {
      latest.epoch = reply.epoch;
      latest.row = reply.row;
    }
    latest.batch_rows_most = std::max(latest.batch_rows_most, reply.batch_rows_most);
  }
  return latest;
}

// Who has not replied.
std::vector<std::string> silent_hosts(const agree::Run::Party& party) {
  std::vector<std::string> silent;
  for (const auto& [host, member] : party.members) {
    if (party.replies.contains(host)) continue;
    silent.push_back(fmt::format("{} (ranks {})", member.host, fmt::join(member.ranks, ", ")));
  }
  return silent;
}

std::string missing_text(const std::vector<std::uint32_t>& ranks, const Job& job) {
  constexpr std::size_t kShown = 8;
  const bool more = ranks.size() > kShown;
  const std::vector<std::uint32_t> shown(ranks.begin(),
                                         more ? ranks.begin() + kShown : ranks.end());
  return fmt::format(
      "job {} has {}, and etcd knows no host of {} {}{}; each host's daemon needs "
      "daemon.etcd with the same prefix, and all ranks must be attached",
      job.name, pluralize(job.world_size, "rank"), ranks.size() == 1 ? "rank" : "ranks",
      fmt::join(shown, ", "), more ? " and others" : "");
}

}  // namespace

AgreementSession::AgreementSession(Names names, agree::Store& store, WithStream with_stream,
                                   SharedJob::View view)
    : names_(std::move(names)),
      with_stream_(std::move(with_stream)),
      run_(store, names_.root, names_.host),
      view_(std::move(view)) {}

Status AgreementSession::follow(const Wish& wish, std::uint64_t now_ns) {
  const Status status = take_part(wish, now_ns);
  if (status.code() != Code::kFailedPrecondition) return status;
  // What it waits for will never be known.
  with_stream_([&](Stream& stream) {
    if (stream.shared_job().is_holding()) stream.core()->fail(status);
  });
  return status;
}

Status AgreementSession::take_part(const Wish& wish, std::uint64_t now_ns) {
  if (!joined_) {
    const agree::Member member = this->member();
    ECHOLINE_TRY(run_.join(member, view_.continues));
    joined_ = true;
    published_ = member;
    kept_ns_ = now_ns;
  }
  if (now_ns >= kept_ns_ + kKeepNs) {
    ECHOLINE_TRY(run_.keep());
    kept_ns_ = now_ns;
  }
  ECHOLINE_TRY(publish(now_ns));
  // Closed changes are made at once, one after the other.
  while (true) {
    ECHOLINE_ASSIGN(const std::optional<Numbered> change, run_.next());
    if (!change.has_value()) break;
    if (change->change.state == agree::Change::State::kOpen) return see_open(*change, now_ns);
    see_closed(*change);
  }
  open_since_ns_ = 0;
  with_stream_([](Stream& stream) { stream.shared_job().release(); });
  return propose(wish, now_ns);
}

agree::Member AgreementSession::member() const {
  agree::Member member{.host = names_.shown, .ranks = view_.ranks};
  with_stream_([&](Stream& stream) {
    if (!stream.core()->auto_factor) return;
    member.ratio = stream.order().echo_factor().ratio().ratio();
    member.ratio_error = stream.order().echo_factor().ratio().error();
  });
  return member;
}

Status AgreementSession::publish(std::uint64_t now_ns) {
  const agree::Member member = this->member();
  const bool other_ratio =
      std::abs(member.ratio - published_.ratio) > kSameRatio * published_.ratio;
  const bool due = other_ratio && now_ns >= published_ns_ + kPublishNs;
  if (member.ranks == published_.ranks && !due) return {};
  ECHOLINE_TRY(run_.update(member));
  published_ = member;
  published_ns_ = now_ns;
  return {};
}

bool AgreementSession::is_own(const Numbered& change) const {
  return proposal_.has_value() && change.change.id == proposal_->id;
}

Status AgreementSession::see_open(const Numbered& change, std::uint64_t now_ns) {
  if (replied_ != change.number) {
    agree::Reply reply{.refusal = "its ranks have left"};
    with_stream_([&](Stream& stream) { reply = stream.shared_job().hold(change.change); });
    if (open_since_ns_ == 0) open_since_ns_ = now_ns;
    ECHOLINE_TRY(run_.reply(change, reply));
    replied_ = change.number;
  }
  if (is_own(change)) return decide(change, now_ns);
  if (now_ns < open_since_ns_ + kDecisionNs) return {};
  return cancel(change, "the host that wanted it has not decided in time");
}

Status AgreementSession::decide(const Numbered& change, std::uint64_t now_ns) {
  ECHOLINE_ASSIGN(const agree::Run::Party party, run_.party(change.number));
  const std::vector<std::uint32_t> missing = agree::missing_ranks(party, view_.job.world_size);
  const std::vector<std::string> silent = silent_hosts(party);
  if (!missing.empty() || !silent.empty()) {
    if (now_ns < proposal_->until_ns) return {};
    return cancel(change, silent.empty()
                              ? missing_text(missing, view_.job)
                              : fmt::format("no answer from {}", fmt::join(silent, ", ")));
  }
  const Result<agree::Reply> place = common_place(party);
  if (!place.ok()) return cancel(change, place.status().message());
  Result<agree::Change> decided = Status(Code::kNotFound, "the stream was deleted");
  with_stream_([&](Stream& stream) {
    decided = stream.shared_job().change_from(place.value(), change.change);
  });
  if (!decided.ok()) return cancel(change, decided.status().message());
  // Who was first is seen in the log.
  return run_.close(change, decided.value()).status();
}

Status AgreementSession::cancel(const Numbered& change, std::string why) {
  agree::Change cancelled = change.change;
  cancelled.state = agree::Change::State::kCancelled;
  cancelled.why = std::move(why);
  return run_.close(change, cancelled).status();
}

void AgreementSession::see_closed(const Numbered& change) {
  Result<SharedJob::Made> result = SharedJob::Made();
  if (change.change.state == agree::Change::State::kCancelled) {
    result = cannot(change.change, change.change.why);
    log_info({"engine", names_.stream}, "{}: not changed: {}", text_of(change.change),
             change.change.why);
  } else {
    with_stream_([&](Stream& stream) {
      result = stream.shared_job().make(change.change);
      // It would go on with another order than the other hosts.
      if (!result.ok()) stream.core()->fail(result.status());
    });
  }
  run_.finish(change);
  open_since_ns_ = 0;
  if (is_own(change)) finish(std::move(result));
}

void AgreementSession::finish(Result<SharedJob::Made> result) {
  const bool is_wish = proposal_.has_value() && proposal_->is_wish;
  proposal_.reset();
  if (is_wish) {
    result_ = std::move(result);
  } else if (!result.ok()) {
    with_stream_([](Stream& stream) { stream.order().echo_factor().note_refused(monotonic_ns()); });
  }
}

Status AgreementSession::propose(const Wish& wish, std::uint64_t now_ns) {
  proposal_.reset();  // all changes of the log are finished: it is not in it
  Wish wanted = wish.has_value() ? wish : wanted_by_ratio(now_ns);
  if (!wanted.has_value() || result_.has_value()) return {};
  ECHOLINE_ASSIGN(const agree::Run::Party party, run_.party(0));
  const std::vector<std::uint32_t> missing = agree::missing_ranks(party, view_.job.world_size);
  if (missing.empty()) missing_since_ns_ = 0;
  if (!missing.empty() && missing_since_ns_ == 0) missing_since_ns_ = now_ns;
  if (!missing.empty() && now_ns < missing_since_ns_ + kRegisterNs) return {};
  proposal_ = {.id = fmt::format("{}.{}", names_.host, ++proposals_),
               .is_wish = wish.has_value(),
               .until_ns = now_ns + kReplyNs};
  if (!missing.empty()) {
    missing_since_ns_ = 0;
    finish(cannot(*wanted, missing_text(missing, view_.job)));
    return {};
  }
  // Where another host was first, its change comes before this one, which is proposed again.
  open_since_ns_ = now_ns;
  wanted->by = names_.shown;
  wanted->id = proposal_->id;
  return run_.propose(*wanted).status();
}

AgreementSession::Wish AgreementSession::wanted_by_ratio(std::uint64_t now_ns) {
  // The host of rank 0 decides for all, and looks at the largest R: where the trainers wait for
  // each other, that of the slowest host.
  if (view_.ranks.empty() || view_.ranks.front() != 0) return std::nullopt;
  if (published_.ratio == 0 || now_ns < looked_ns_ + kPublishNs) return std::nullopt;
  looked_ns_ = now_ns;
  const Result<agree::Run::Party> party = run_.party(0);
  if (!party.ok()) return std::nullopt;
  agree::Member slowest = published_;
  for (const auto& [host, member] : party.value().members) {
    if (member.ratio > slowest.ratio) slowest = member;
  }
  std::optional<std::uint32_t> wanted;
  with_stream_([&](Stream& stream) {
    wanted =
        stream.order().echo_factor().wanted_by_ratio(slowest.ratio, slowest.ratio_error, now_ns);
  });
  return wanted ? Wish(agree::Change{.values = {*wanted}}) : std::nullopt;
}

}  // namespace echoline::engine
