// Builds the passes of a stream: reserves their memory and starts their threads. Slow: a ring of
// ten GiB takes seconds, so no caller may hold the registry's lock.
#pragma once

#include <memory>

#include "base/status.h"
#include "engine/open/stream_core.h"
#include "engine/pass/pass.h"
#include "engine/runtime/memory_budget.h"

namespace echoline::engine {

// Owns a running pass until a stream takes it; stops a pass that no stream took.
class BuiltPass {
 public:
  explicit BuiltPass(std::shared_ptr<Pass> pass) : pass_(std::move(pass)) {}
  BuiltPass(BuiltPass&& other) noexcept = default;
  BuiltPass& operator=(BuiltPass&& other) = delete;
  ~BuiltPass();
  Pass& pass() const { return *pass_; }
  std::shared_ptr<Pass> take() { return std::move(pass_); }

 private:
  std::shared_ptr<Pass> pass_;
};

// kResourceExhausted where the budget or the machine has no room, even after other streams have
// given their idle passes back.
Result<BuiltPass> build_pass(std::shared_ptr<StreamCore> core, MemoryBudget& budget,
                             Pass::Options options);

// Stops a pass that no trainer reads and returns its memory. By one thread at a time for each pass:
// joins the pass's thread and waits for the workers that are preparing its rows.
void retire_pass(Pass& pass);

}  // namespace echoline::engine
