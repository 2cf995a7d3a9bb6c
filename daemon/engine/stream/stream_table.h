// The streams of the engine by name, and the names of streams that are being opened.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/peer.h"
#include "base/rate_limiter.h"
#include "base/status.h"
#include "engine/runtime/generations.h"
#include "engine/stream/index_progress.h"
#include "engine/stream/stream.h"

namespace echoline::engine {

// A stream that is being opened.
struct Opening {
  Status failure;  // the first that was reported, else Ok
  IndexProgress progress;
};

// Under the registry's lock.
class StreamTable {
 public:
  // Takes the name for a stream that is being opened, until add() or abandon(). Returns its
  // generation; kFailedPrecondition where another stream is being opened under the name.
  Result<std::uint64_t> begin_opening(const std::string& name);
  // The stream is open. Returns the failure that was reported while it was being opened, if any.
  Status add(const std::string& name, std::unique_ptr<Stream> stream);
  // The stream is being opened, and this is how far its index is.
  void note_progress(const std::string& name, const record::Progress& seen, std::uint64_t now_ns);
  // It could not be opened.
  void abandon(const std::string& name);
  // Takes a stream out of the table; kNotFound if there is none, kFailedPrecondition while it is
  // being opened.
  Result<std::unique_ptr<Stream>> remove(const std::string& name);

  // Null where no open stream has the name.
  Stream* get(const std::string& name) const;
  // The same for one generation of the name.
  Stream* get(const std::string& name, std::uint64_t generation) const;
  std::uint64_t generation(const std::string& name) const { return generations_.of(name); }
  // kNotFound names the streams that there are.
  Result<Stream*> find(const std::string& name) const;
  // The same for a trainer: a stream that it may not use does not exist for it.
  Result<Stream*> find_for(const Peer& peer, const std::string& name) const;
  // Notes the failure of a stream that is still being opened.
  void note_failure(const std::string& name, std::uint64_t generation, const Status& status);

  const std::map<std::string, std::unique_ptr<Stream>>& streams() const { return streams_; }
  const std::map<std::string, Opening>& opening() const { return opening_; }
  void clear() { streams_.clear(); }

 private:
  // Logs a refusal by publish.access, at most once a second.
  void log_refused(const Peer& peer, const std::string& name) const;

  std::map<std::string, std::unique_ptr<Stream>> streams_;
  std::map<std::string, Opening> opening_;
  Generations generations_;  // of the names of both
  mutable RateLimiter refusals_logged_{1'000'000'000};
};

}  // namespace echoline::engine
