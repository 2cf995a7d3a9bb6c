// A small store that the daemons of several hosts share, with transactions and leases, such as
// etcd. It keeps what they agree upon.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace echoline::agree {

// Keys from `begin` up to `end`, which is not in it; an empty `end`: the key `begin` alone.
struct Range {
  std::string begin;
  std::string end = {};
};
// All keys that begin with `prefix`, which is not empty.
Range all_below(std::string prefix);

struct Entry {
  std::string key;
  std::string value;
};

struct Condition {
  enum class Kind : std::uint8_t { kAbsent, kEqual };
  Kind kind = Kind::kAbsent;
  Range range;             // kAbsent: no key of it is there; kEqual: a single key
  std::string value = {};  // of kEqual
};

struct Write {
  std::string key;
  std::string value;
  std::int64_t lease = 0;  // the key ends with it; 0: it stays
};

// One step for all hosts: if all conditions hold, keys are removed and written.
struct Transaction {
  std::vector<Condition> conditions = {};
  std::vector<Range> removals = {};
  std::vector<Write> writes = {};
  // Read in the same step, in either case; after the writes.
  std::vector<Range> reads = {};
};

struct Outcome {
  bool done = false;                     // the conditions held
  std::vector<std::vector<Entry>> read;  // by Transaction::reads, in the order of keys
};

// One thread. Every call returns within some seconds. An error leaves open whether the step was
// done.
class Store {
 public:
  virtual ~Store() = default;
  virtual Result<Outcome> commit(const Transaction& transaction) = 0;
  // A lease ends `seconds` after it was last kept.
  virtual Result<std::int64_t> grant(std::int64_t seconds) = 0;
  // kNotFound: it has ended.
  virtual Status keep(std::int64_t lease) = 0;
  virtual Status revoke(std::int64_t lease) = 0;
};

}  // namespace echoline::agree
