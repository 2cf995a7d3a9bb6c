// Compiles a stream's steps.
#pragma once

#include <memory>
#include <vector>

#include "augment/chain.h"
#include "base/status.h"
#include "decode/decoder.h"
#include "echoline/v1/config.pb.h"
#include "engine/runtime/memory_budget.h"

namespace echoline::engine {

// Decoding and the steps after it, without types: those may need a look at the data.
struct Steps {
  std::vector<std::unique_ptr<decode::Decoder>> decoders;  // of each source
  std::unique_ptr<augment::Chain> chain;
};

// `serves`: only what a preparation server does. The budget limits what a step may keep of files.
Result<Steps> compile_steps(const v1::Stream& stream, bool serves, const MemoryBudget& budget);

}  // namespace echoline::engine
