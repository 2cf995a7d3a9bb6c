// A run of a job on several hosts, as the store has it: the hosts that take part, and the log of
// changes that they agree upon. A run begins when a host registers itself while no host of the job
// is registered.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agree/change.h"
#include "agree/store.h"
#include "base/status.h"

namespace echoline::agree {

// Keys below `root`:
//   run              the id of the run
//   hosts/HOST       a Member, as long as the host keeps its lease
//   log/NUMBER       a Change, the numbers counting from 1
//   replies/NUMBER/HOST
// One thread. Errors of the store change nothing here: the same call may be made again.
class Run {
 public:
  static constexpr std::int64_t kLeaseSeconds = 15;
  // Changes that are kept for hosts that join again.
  static constexpr std::uint32_t kLogMost = 1024;

  // `host` is unique for each daemon and registration.
  Run(Store& store, std::string root, std::string host);

  // Registers this host: in the present run, or in a new one if no host of the job is there and
  // `continues` is false, that is, its trainers do not come from an earlier daemon.
  Status join(const Member& member, bool continues);
  // What it says of itself has changed.
  Status update(const Member& member);
  // Keeps the registration, or makes it again where it has ended.
  Status keep();
  void leave();
  std::int64_t lease() const { return lease_; }

  struct Numbered {
    std::uint32_t number = 0;
    std::string text;
    Change change;
  };
  // The first change that was not finished here, if there is one. kFailedPrecondition: another run
  // has begun.
  Result<std::optional<Numbered>> next();
  // This host is done with a change that is no longer open.
  void finish(const Numbered& change) { finished_ = change.number; }
  // Appends a change; false if another host was first.
  Result<bool> propose(const Change& change);
  // Replaces an open one; false if another host was first.
  Result<bool> close(const Numbered& open, const Change& closed);

  Status reply(const Numbered& open, const Reply& reply);
  struct Party {
    std::map<std::string, Member> members;  // by host id
    std::map<std::string, Reply> replies;   // to the change
  };
  Result<Party> party(std::uint32_t number);

 private:
  Status join_with_lease(const Member& member, bool continues);
  Condition same_run() const;
  Write registration(const Member& member) const;

  Store& store_;
  const std::string root_;
  const std::string host_;
  std::string id_;
  std::int64_t lease_ = 0;
  Member member_;
  std::uint32_t finished_ = 0;  // the number of the last change that is done here
};

// Of the ranks 0 to world_size - 1, those that no member has.
std::vector<std::uint32_t> missing_ranks(const Run::Party& party, std::uint32_t world_size);

}  // namespace echoline::agree
