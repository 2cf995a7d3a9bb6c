// What preparation servers ask of the engine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "prepare/frame.h"

namespace echoline::engine {

struct SampleQuestion {
  std::string stream;
  std::string fingerprint;  // of the data set and the steps before `prepare`
  std::vector<std::uint64_t> records;
};

// The frames of the first records; fewer than all where they would become too long for one answer.
// On a worker's thread, or on the caller's.
using SampleAnswer = std::function<void(std::vector<prepare::Frame> frames)>;

// A question that is being answered. Its memory counts until it is destroyed.
class SampleRun {
 public:
  virtual ~SampleRun() = default;
  // The answer is not wanted any more, and may not come.
  virtual void cancel() = 0;
};

}  // namespace echoline::engine
