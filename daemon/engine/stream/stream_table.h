// The streams of the engine by name, and the names of streams that are being opened.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/access_list.h"
#include "base/peer.h"
#include "base/rate_limiter.h"
#include "base/status.h"
#include "engine/runtime/generations.h"
#include "engine/stream/index_progress.h"
#include "engine/stream/opening_queue.h"
#include "engine/stream/stream.h"

namespace echoline::engine {

// A stream that is being opened, or will be.
struct Opening {
  bool announced = false;  // nobody opens it yet
  bool of_start = false;   // was announced
  AccessList access;       // as publish.access
  Status failure;          // the first that was reported, else Ok
  IndexProgress progress;
  OpeningQueue trainers;  // that wait for it

  IndexingStats stats() const;
};

// Under the registry's lock.
class StreamTable {
 public:
  // Takes the name for a stream that begin_opening() will open. kAlreadyExists where it is taken.
  Status announce(const std::string& name, AccessList access);
  // Takes the name for a stream that is being opened, until add() or abandon(). Returns its
  // generation; kFailedPrecondition where another stream is being opened under the name.
  Result<std::uint64_t> begin_opening(const std::string& name, AccessList access);
  // The stream is open. Returns what it was while it was being opened: the failure that was
  // reported, and the trainers that wait.
  Opening add(const std::string& name, std::unique_ptr<Stream> stream);
  // The stream is being opened, and this is how far its index is.
  void note_progress(const std::string& name, const record::Progress& seen, std::uint64_t now_ns);
  // It could not be opened: its trainers get the reason.
  void abandon(const std::string& name, const Status& why);
  // Takes a stream out of the table; kNotFound if there is none, kFailedPrecondition while it is
  // being opened.
  Result<std::unique_ptr<Stream>> remove(const std::string& name);

  // Null where no open stream has the name.
  Stream* get(const std::string& name) const;
  // The same for one generation of the name.
  Stream* get(const std::string& name, std::uint64_t generation) const;
  std::uint64_t generation(const std::string& name) const { return generations_.of(name); }
  // kNotFound names the streams that there are; kFailedPrecondition while it is being opened.
  Result<Stream*> find(const std::string& name) const;
  // The same for a trainer: a stream that it may not use does not exist for it.
  Result<Stream*> find_for(const Peer& peer, const std::string& name) const;
  // Notes the failure of a stream that is still being opened.
  void note_failure(const std::string& name, std::uint64_t generation, const Status& status);

  // Takes the request of a trainer if a stream of this name is being opened that it may use: it
  // waits until add() or abandon(). Else false.
  bool hold(const std::string& name, AttachCall& call);
  // Why a stream of the daemon's start could not be opened; Ok for all other names.
  Status failure_at_start(const Peer& peer, const std::string& name) const;
  // False if that connection does not wait.
  bool withdraw_waiting(std::uint64_t connection);
  // Sends notices of the progress to the trainers that wait. Called at least a few times a second.
  void report_progress(std::uint64_t now_ns, const OpeningQueue::Send& send);
  void refuse_waiting(const Status& why);
  // As Engine::stats(), of the streams that are being opened.
  std::vector<StreamStats> opening_stats() const;

  const std::map<std::string, std::unique_ptr<Stream>>& streams() const { return streams_; }
  void clear() { streams_.clear(); }

 private:
  // The streams that the peer may use, also those that are being opened.
  std::string names_for(const Peer& peer) const;
  // Logs a refusal by publish.access, at most once a second.
  void log_refused(const Peer& peer, const std::string& name) const;

  std::map<std::string, std::unique_ptr<Stream>> streams_;
  std::map<std::string, Opening> opening_;
  // Streams of the start that could not be opened: trainers that come later get the reason.
  struct FailedOpening {
    AccessList access;
    Status why;
  };
  std::map<std::string, FailedOpening> failed_;
  Generations generations_;  // of the names of both
  mutable RateLimiter refusals_logged_{1'000'000'000};
};

}  // namespace echoline::engine
