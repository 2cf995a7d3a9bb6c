// The shapes of a stream's rows where no step fixes them: the first good record does, and a few
// more must agree with it before anything starts.
#pragma once

#include <optional>
#include <vector>

#include "augment/chain.h"
#include "base/status.h"

namespace echoline::augment {

// For one thread. The chain must outlive it, and must not be told its outputs meanwhile.
class RowShapes {
 public:
  explicit RowShapes(const Chain& chain) : chain_(chain) {}

  // Takes the next good record. One of another shape is left to `bad_records`; the second one is
  // an error (kInvalidArgument) that names the field and what makes all alike, since a stream of
  // such data would end after its first batches.
  Status take(const decode::Sample& sample);
  // No further record can say more: one was taken, and the steps fix all shapes.
  bool settled() const;
  // As the first record has them; nothing before `take`.
  const std::optional<std::vector<decode::FieldType>>& types() const { return types_; }

 private:
  const Chain& chain_;
  std::optional<std::vector<decode::FieldType>> types_;
  int odd_ = 0;
};

}  // namespace echoline::augment
