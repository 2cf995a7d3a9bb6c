// The counters of a trainer (job, rank) over all of its attachments.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>

#include "echoline/shm/ring_layout.h"
#include "engine/api/job.h"
#include "engine/api/stats.h"

namespace echoline::engine {

struct TrainerCounters {
  std::array<std::uint64_t, 5> wait_ns{};  // by WaitCause
  std::uint64_t batches = 0;
  shm::DeviceFigures device = {};
  BatchWaitTimes batch_waits = {};
};

TrainerCounters operator+(TrainerCounters one, const TrainerCounters& other);

// Keeps the counters of trainers that have detached, so that they continue when the trainer
// attaches again: after a move to another pass, from a checkpoint, or with its next loader. Bounded
// by time and number. Not thread safe.
class DetachedCounters {
 public:
  static constexpr std::size_t kTrainersMax = 1024;
  static constexpr std::uint64_t kKeepNs = 3'600'000'000'000;

  // `moving`: it was notified to attach again, to another pass.
  void keep(const Job& job, std::uint32_t rank, const TrainerCounters& counters, bool moving,
            std::uint64_t now_ns);
  struct Kept {
    TrainerCounters counters;
    bool moving = false;
  };
  // What was kept of this trainer, which from now on is the caller's; zeros if nothing was.
  Kept take(const Job& job, std::uint32_t rank, std::uint64_t now_ns);
  std::size_t size() const { return kept_.size(); }

 private:
  struct Entry {
    Kept kept;
    std::uint64_t since_ns = 0;
  };
  // Keeps the bound kTrainersMax.
  void forget_oldest();

  std::map<std::pair<Job, std::uint32_t>, Entry> kept_;
};

}  // namespace echoline::engine
