// How busy each stage of a stream is, and R, the ratio of the paper: time above the echo point for
// one batch's worth of fresh samples over time below it for one batch (Choi et al., arXiv
// 1907.05550).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/api/stats.h"
#include "engine/open/stream_core.h"

namespace echoline::engine {

// What a tick sees of the stream.
struct StageView {
  bool has_passes = false;
  bool ring_full = false;      // nothing is or can be filled before a trainer releases a slot
  bool fetch_waits = false;    // records are ordered and not there
  bool trainer_waits = false;  // somebody waits for the next batch
  bool has_trainers = false;
};

// Not thread safe.
class StageClock {
 public:
  StageClock(const StreamCore& core, std::uint32_t workers) : core_(core), workers_(workers) {}

  // Accounts the time since the last tick by what is seen now.
  void tick(std::uint64_t now_ns, const StageView& view);
  std::vector<StageStats> stages() const;
  // 0 while unknown.
  double upstream_downstream_ratio() const;

 private:
  void tick_fetch(std::uint64_t passed_ns, const StageView& view);
  void tick_prep(std::uint64_t passed_ns, const StageView& view);
  void tick_publish(std::uint64_t passed_ns, const StageView& view);

  const StreamCore& core_;
  const std::uint32_t workers_;
  std::uint64_t last_ns_ = 0;
  std::uint64_t fetch_busy_seen_ns_ = 0;
  std::uint64_t prep_busy_seen_ns_ = 0;
  std::uint64_t trained_ns_ = 0;  // with trainers, none of them waiting
  StageStats fetch_{.stage = "fetch"};
  StageStats prep_{.stage = "prep"};
  StageStats publish_{.stage = "publish"};
};

}  // namespace echoline::engine
