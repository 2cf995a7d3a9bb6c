// The shapes of a stream's rows if no step determines them: then the first good record does, and a
// few more must agree with it before the stream starts.
#pragma once

#include <optional>
#include <vector>

#include "augment/chain.h"
#include "base/status.h"

namespace echoline::augment {

// One thread. The chain must outlive it; do not call chain.fix_outputs before the last `take`.
class RowShapes {
 public:
  explicit RowShapes(const Chain& chain) : chain_(chain) {}

  // Takes the types that the next good record gives (Chain::outputs_for). One record of another
  // shape is ignored: `bad_records` handles it later. The second one is an error
  // (kInvalidArgument), because a stream of such data would fail after a few batches. The message
  // names the field and the step that gives all rows one shape.
  Status take(const std::vector<decode::FieldType>& found);
  // True if more records give no more information: one was taken, and the steps fix all shapes.
  bool settled() const;
  // The types of the first record; nothing before `take`.
  const std::optional<std::vector<decode::FieldType>>& types() const { return types_; }

 private:
  const Chain& chain_;
  std::optional<std::vector<decode::FieldType>> types_;
  int odd_ = 0;
};

}  // namespace echoline::augment
