#include "engine/stream/stream_table.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "base/access_list.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/sanitize_name.h"

namespace echoline::engine {
namespace {

Status being_created(const std::string& name) {
  return Status(Code::kFailedPrecondition,
                fmt::format("stream '{}' is just being created; ask again when it is ready", name));
}

}  // namespace

Result<std::uint64_t> StreamTable::begin_opening(const std::string& name) {
  // One caller opens a name; others are refused until it has succeeded or failed.
  if (!opening_.try_emplace(name).second) return being_created(name);
  return generations_.begin(name);
}

Status StreamTable::add(const std::string& name, std::unique_ptr<Stream> stream) {
  // Both under one lock: the name is never free in between.
  streams_.emplace(name, std::move(stream));
  return opening_.extract(name).mapped().failure;
}

void StreamTable::note_progress(const std::string& name, const record::Progress& seen,
                                std::uint64_t now_ns) {
  opening_.at(name).progress.note(seen, now_ns);
}

void StreamTable::abandon(const std::string& name) {
  opening_.erase(name);
  generations_.end(name);
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

Result<Stream*> StreamTable::find(const std::string& name) const {
  // The daemon itself may use every stream.
  return find_for(Peer{.uid = ::geteuid(), .groups = {}}, name);
}

Result<Stream*> StreamTable::find_for(const Peer& peer, const std::string& name) const {
  std::string known;
  for (const auto& [other, stream] : streams_) {
    const AccessList& access = stream->core()->access;
    const bool may_use = access.empty() || is_own(peer) || access.names(peer);
    if (other == name && may_use) return stream.get();
    // The answer is that of a missing stream: who may not use it does not learn that it exists.
    if (other == name) log_refused(peer, name);
    if (may_use) known += (known.empty() ? "" : ", ") + other;
  }
  // Only streams that the caller may use are named.
  return Status(Code::kNotFound, fmt::format("no stream '{}'; there are: {}", sanitize_name(name),
                                             known.empty() ? "none" : known));
}

// At most once a second: a trainer that is refused could fill the disk with log lines.
void StreamTable::log_refused(const Peer& peer, const std::string& name) const {
  if (!refusals_logged_.due(monotonic_ns())) return;
  log_warning({"engine", name}, "process {} of user {} may not attach (publish.access)", peer.pid,
              peer.uid);
}

void StreamTable::note_failure(const std::string& name, std::uint64_t generation,
                               // With the table's generation: a failure of an earlier stream of
                               // this name is not noted.
                               const Status& status) {
  // The stream's threads run before it is in the table, so it may fail before add().
  const auto opening = opening_.find(name);
  if (opening == opening_.end() || generations_.of(name) != generation) return;
  Status& failure = opening->second.failure;
  if (failure.ok()) failure = status;
}

}  // namespace echoline::engine
