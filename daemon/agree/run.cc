#include "agree/run.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace echoline::agree {
namespace {

// So that their order as texts is that of the numbers.
std::string padded(std::uint32_t number) { return fmt::format("{:010}", number); }

Status ended() {
  return {Code::kFailedPrecondition,
          "the job was begun again on other hosts while this one could not reach etcd; start it "
          "again on all hosts to change its order"};
}

// The last part of a key.
std::string name_of(const Entry& entry) { return entry.key.substr(entry.key.rfind('/') + 1); }

std::uint32_t number_of(const Entry& entry) {
  const std::string name = name_of(entry);
  std::uint32_t number = 0;
  std::from_chars(name.data(), name.data() + name.size(), number);
  return number;
}

}  // namespace

Run::Run(Store& store, std::string root, std::string host)
    : store_(store), root_(std::move(root)), host_(std::move(host)) {}

Condition Run::same_run() const {
  return {.kind = Condition::Kind::kEqual, .range = {root_ + "run"}, .value = id_};
}

Write Run::registration(const Member& member) const {
  return {root_ + "hosts/" + host_, to_text(member), lease_};
}

Status Run::join(const Member& member, bool continues) {
  if (lease_ == 0) {
    ECHOLINE_ASSIGN(lease_, store_.grant(kLeaseSeconds));
  }
  const Status joined = join_with_lease(member, continues);
  // The lease has ended while etcd was away.
  if (joined.code() == Code::kNotFound) lease_ = 0;
  return joined;
}

Status Run::join_with_lease(const Member& member, bool continues) {
  const Range run{root_ + "run"};
  Transaction begin{.writes = {{run.begin, host_}, registration(member)}, .reads = {run}};
  // Trainers that come from an earlier daemon may lack changes of their run.
  begin.conditions = {{.range = continues ? run : all_below(root_ + "hosts/")}};
  begin.removals = {all_below(root_ + "log/"), all_below(root_ + "replies/")};
  ECHOLINE_ASSIGN(const Outcome begun, store_.commit(begin));
  if (begun.read.front().empty()) {
    return {Code::kUnavailable, "etcd: the hosts of the job have just left"};
  }
  id_ = begun.read.front().front().value;
  finished_ = 0;
  member_ = member;
  return begun.done ? Status() : update(member);
}

Status Run::update(const Member& member) {
  ECHOLINE_ASSIGN(const Outcome written,
                  store_.commit({.conditions = {same_run()}, .writes = {registration(member)}}));
  if (!written.done) return ended();
  member_ = member;
  return {};
}

Status Run::keep() {
  const Status kept = store_.keep(lease_);
  if (kept.code() != Code::kNotFound) return kept;
  ECHOLINE_ASSIGN(const std::int64_t lease, store_.grant(kLeaseSeconds));
  const std::int64_t ended = std::exchange(lease_, lease);
  const Status updated = update(member_);
  // The next call sees again that a lease has ended, and registers the host.
  if (!updated.ok()) lease_ = ended;
  return updated;
}

void Run::leave() {
  // Where this fails, the lease ends by itself.
  if (lease_ != 0) static_cast<void>(store_.revoke(std::exchange(lease_, 0)));
}

Result<std::optional<Run::Numbered>> Run::next() {
  const Range later{root_ + "log/" + padded(finished_ + 1), all_below(root_ + "log/").end};
  ECHOLINE_ASSIGN(const Outcome outcome,
                  store_.commit({.conditions = {same_run()}, .reads = {later}}));
  if (!outcome.done) return ended();
  if (outcome.read.front().empty()) return std::optional<Numbered>();
  const Entry& entry = outcome.read.front().front();
  Numbered first{.number = number_of(entry), .text = entry.value, .change = {}};
  ECHOLINE_ASSIGN(first.change, change_of(entry.value));
  return std::optional(std::move(first));
}

Result<bool> Run::propose(const Change& change) {
  const std::uint32_t number = finished_ + 1;
  Transaction append{.conditions = {same_run(), {.range = {root_ + "log/" + padded(number)}}},
                     .writes = {{root_ + "log/" + padded(number), to_text(change)}}};
  if (number > kLogMost) {
    append.removals = {{root_ + "log/" + padded(0), root_ + "log/" + padded(number - kLogMost)}};
  }
  ECHOLINE_ASSIGN(const Outcome outcome, store_.commit(append));
  return outcome.done;
}

Result<bool> Run::close(const Numbered& open, const Change& closed) {
  const std::string key = root_ + "log/" + padded(open.number);
  ECHOLINE_ASSIGN(
      const Outcome outcome,
      store_.commit({.conditions = {same_run(), {Condition::Kind::kEqual, {key}, open.text}},
                     .removals = {all_below(root_ + "replies/")},
                     .writes = {{key, to_text(closed)}}}));
  return outcome.done;
}

Status Run::reply(const Numbered& open, const Reply& reply) {
  const std::string key = root_ + "replies/" + padded(open.number) + "/" + host_;
  const Condition still_open{
      Condition::Kind::kEqual, {root_ + "log/" + padded(open.number)}, open.text};
  return store_
      .commit({.conditions = {same_run(), still_open}, .writes = {{key, to_text(reply), lease_}}})
      .status();
}

Result<Run::Party> Run::party(std::uint32_t number) {
  ECHOLINE_ASSIGN(const Outcome outcome,
                  store_.commit({.reads = {all_below(root_ + "hosts/"),
                                           all_below(root_ + "replies/" + padded(number) + "/")}}));
  Party party;
  for (const Entry& entry : outcome.read[0]) {
    ECHOLINE_ASSIGN(party.members[name_of(entry)], member_of(entry.value));
  }
  for (const Entry& entry : outcome.read[1]) {
    ECHOLINE_ASSIGN(party.replies[name_of(entry)], reply_of(entry.value));
  }
  return party;
}

std::vector<std::uint32_t> missing_ranks(const Run::Party& party, std::uint32_t world_size) {
  std::vector<bool> there(world_size);
  for (const auto& [host, member] : party.members) {
    for (const std::uint32_t rank : member.ranks) {
      if (rank < world_size) there[rank] = true;
    }
  }
  std::vector<std::uint32_t> missing;
  for (std::uint32_t rank = 0; rank < world_size; ++rank) {
    if (!there[rank]) missing.push_back(rank);
  }
  return missing;
}

}  // namespace echoline::agree
