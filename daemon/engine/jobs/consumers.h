// The trainers that are attached to one stream.
#pragma once

#include <cstdint>
#include <list>
#include <utility>
#include <vector>

#include "engine/jobs/consumer.h"

namespace echoline::engine {

// Under the registry's lock. References to a consumer hold until it is removed.
class Consumers {
 public:
  const std::list<Consumer>& all() const { return all_; }
  std::list<Consumer>& all() { return all_; }
  Consumer& add(Consumer consumer);
  // Null if that connection reads another stream.
  Consumer* find(std::uint64_t connection);
  // Takes its reader off the ring of its pass.
  void remove(const Consumer& consumer);

  bool has_readers(const Pass& pass) const;
  // Whether a rank of the job reads the pass and is not moving to another one.
  bool is_reading(const Pass& pass, const Job& job) const;
  bool has_job(const Job& job) const;
  // The pass of a rank of this job that is not moving to another one, else null.
  const Pass* pass_of(const Job& job) const;
  // Every trainer has released all that is published.
  bool are_drained() const;
  std::vector<std::uint64_t> connections() const;
  // Whether trainers came or left since this was last asked.
  bool take_changed() { return std::exchange(changed_, false); }

 private:
  std::list<Consumer> all_;
  bool changed_ = false;
};

}  // namespace echoline::engine
