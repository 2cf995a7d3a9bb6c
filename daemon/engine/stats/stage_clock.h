// Measures how busy each stage of a stream is, and R.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/api/stats.h"
#include "engine/open/stream_core.h"
#include "engine/stats/ratio_meter.h"
#include "engine/stats/trainer_clock.h"

namespace echoline::engine {

// The state of a stream at a tick.
struct StageView {
  bool held_up = false;                   // no slot can be filled before a trainer releases one
  bool fetch_waits = false;               // records are requested and have not arrived
  std::vector<SlowestTrainer> slowest{};  // of each pass with trainers
};

// Not thread safe.
class StageClock {
 public:
  StageClock(const StreamCore& core, std::uint32_t workers);

  // Charges the time since the last tick to the state that is seen now.
  void tick(std::uint64_t now_ns, const StageView& view);
  std::vector<StageStats> stages() const;
  const RatioMeter& ratio() const { return ratio_; }

 private:
  // Each charges one stage.
  void tick_fetch(std::uint64_t passed_ns, const StageView& view);
  void tick_prep(std::uint64_t passed_ns, const StageView& view);
  void tick_publish(std::uint64_t passed_ns, const StageView& view);
  void tick_ratio();

  const StreamCore& core_;
  const std::uint32_t workers_;
  std::uint64_t last_ns_ = 0;
  std::uint64_t fetch_busy_seen_ns_ = 0;
  std::uint64_t arrived_ = 0;  // bytes
  std::uint64_t prep_busy_seen_ns_ = 0;
  std::uint64_t publish_busy_seen_ns_ = 0;
  TrainerClock trainers_;
  StageStats fetch_{.stage = "fetch"};
  StageStats prep_{.stage = "prep"};
  StageStats publish_{.stage = "publish"};
  RatioMeter ratio_;
};

}  // namespace echoline::engine
