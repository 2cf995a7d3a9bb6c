#include "engine/stream/stream_table.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/sanitize_name.h"
#include "engine/stats/verdict.h"

namespace echoline::engine {
namespace {

Status being_created(const std::string& name) {
  return Status(Code::kFailedPrecondition,
                fmt::format("stream '{}' is just being created; ask again when it is ready", name));
}

bool may_use(const Peer& peer, const AccessList& access) {
  return access.empty() || is_own(peer) || access.names(peer);
}

}  // namespace

IndexingStats Opening::stats() const {
  IndexingStats stats = progress.stats(monotonic_ns());
  stats.waits = announced;
  stats.trainers = trainers.size();
  return stats;
}

Status StreamTable::announce(const std::string& name, AccessList access) {
  if (opening_.contains(name) || streams_.contains(name)) {
    return Status(Code::kAlreadyExists, fmt::format("stream '{}' exists", name));
  }
  Opening& opening = opening_[name];
  opening.announced = true;
  opening.access = std::move(access);
  return {};
}

Result<std::uint64_t> StreamTable::begin_opening(const std::string& name, AccessList access) {
  const auto [found, is_new] = opening_.try_emplace(name);
  Opening& opening = found->second;
  // One caller opens a name; others are refused until it has succeeded or failed.
  if (!is_new && !std::exchange(opening.announced, false)) return being_created(name);
  opening.of_start = !is_new;
  opening.access = std::move(access);
  return generations_.begin(name);
}

Opening StreamTable::add(const std::string& name, std::unique_ptr<Stream> stream) {
  // Both under one lock: the name is never free in between.
  failed_.erase(name);
  streams_.emplace(name, std::move(stream));
  return std::move(opening_.extract(name).mapped());
}

void StreamTable::note_progress(const std::string& name, const record::Progress& seen,
                                std::uint64_t now_ns) {
  opening_.at(name).progress.note(seen, now_ns);
}

void StreamTable::abandon(const std::string& name, const Status& why) {
  Opening opening = std::move(opening_.extract(name).mapped());
  opening.trainers.refuse_all(why);
  generations_.end(name);
  if (opening.of_start) failed_[name] = {std::move(opening.access), why};
}

Result<std::unique_ptr<Stream>> StreamTable::remove(const std::string& name) {
  // A stream that is being opened has no Stream object that could be ended.
  if (opening_.contains(name)) return being_created(name);
  ECHOLINE_TRY(find(name).status());
  // Late messages about the stream are dropped from now on.
  generations_.end(name);
  return std::move(streams_.extract(name).mapped());
}

Stream* StreamTable::get(const std::string& name) const {
  const auto found = streams_.find(name);
  return found == streams_.end() ? nullptr : found->second.get();
}

Stream* StreamTable::get(const std::string& name, std::uint64_t generation) const {
  return generations_.of(name) == generation ? get(name) : nullptr;
}

bool StreamTable::hold(const std::string& name, AttachCall& call) {
  const auto found = opening_.find(name);
  if (found == opening_.end() || !may_use(call.peer, found->second.access)) return false;
  found->second.trainers.add(std::move(call));
  return true;
}

bool StreamTable::withdraw_waiting(std::uint64_t connection) {
  return std::any_of(opening_.begin(), opening_.end(), [connection](auto& opening) {
    return opening.second.trainers.withdraw(connection);
  });
}

Status StreamTable::failure_at_start(const Peer& peer, const std::string& name) const {
  const auto failed = failed_.find(name);
  const bool known = failed != failed_.end() && may_use(peer, failed->second.access);
  return known ? failed->second.why : Status();
}

void StreamTable::report_progress(std::uint64_t now_ns, const OpeningQueue::Send& send) {
  for (auto& [name, opening] : opening_) {
    if (opening.trainers.size() == 0) continue;
    opening.trainers.report_progress(opening_text(opening.stats()), now_ns, send);
  }
}

void StreamTable::refuse_waiting(const Status& why) {
  for (auto& [name, opening] : opening_) opening.trainers.refuse_all(why);
}

std::vector<StreamStats> StreamTable::opening_stats() const {
  std::vector<StreamStats> all;
  for (const auto& [name, opening] : opening_) {
    StreamStats& stats = all.emplace_back();
    stats.name = name;
    stats.state = "opening";
    stats.indexing = opening.stats();
    stats.verdict = verdict(stats);
  }
  return all;
}

Result<Stream*> StreamTable::find(const std::string& name) const {
  if (opening_.contains(name)) return being_created(name);
  // The daemon itself may use every stream.
  return find_for(Peer{.uid = ::geteuid(), .groups = {}}, name);
}

Result<Stream*> StreamTable::find_for(const Peer& peer, const std::string& name) const {
  if (const auto found = streams_.find(name); found != streams_.end()) {
    if (may_use(peer, found->second->core()->access)) return found->second.get();
    // The answer is that of a missing stream: who may not use it does not learn that it exists.
    log_refused(peer, name);
  }
  // Only streams that the caller may use are named.
  const std::string known = names_for(peer);
  return Status(Code::kNotFound, fmt::format("no stream '{}'; there are: {}", sanitize_name(name),
                                             known.empty() ? "none" : known));
}

std::string StreamTable::names_for(const Peer& peer) const {
  std::set<std::string> names;
  for (const auto& [name, stream] : streams_) {
    if (may_use(peer, stream->core()->access)) names.insert(name);
  }
  for (const auto& [name, opening] : opening_) {
    if (may_use(peer, opening.access)) names.insert(name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// At most once a second: a trainer that is refused could fill the disk with log lines.
void StreamTable::log_refused(const Peer& peer, const std::string& name) const {
  if (!refusals_logged_.due(monotonic_ns())) return;
  log_warning({"engine", name}, "process {} of user {} may not attach (publish.access)", peer.pid,
              peer.uid);
}

void StreamTable::note_failure(const std::string& name, std::uint64_t generation,
                               const Status& status) {
  // The stream's threads run before it is in the table, so it may fail before add(). A failure of
  // an earlier stream of this name, which has another generation, is not noted.
  const auto opening = opening_.find(name);
  if (opening == opening_.end() || generations_.of(name) != generation) return;
  Status& failure = opening->second.failure;
  if (failure.ok()) failure = status;
}

}  // namespace echoline::engine
