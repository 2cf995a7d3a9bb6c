// One simulated stream: its real plan, fetcher, workers, passes and rings, stepped by one thread in
// simulated time, in an order that a seed decides. Trainers join, read, keep batches, skip, leave
// and come back; the store is late, away or wrong; the factor changes; the daemon restarts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "engine/open/stream_core.h"
#include "engine/pass/order_change.h"
#include "engine/pass/pass.h"
#include "simulation/sim_data.h"
#include "simulation/sim_trainer.h"

namespace echoline::simulation {

// What a run did, to show that the schedules reach what they should reach.
struct Coverage {
  std::uint64_t batches = 0;
  std::uint64_t rows = 0;
  std::uint64_t replaced = 0;
  std::uint64_t passes = 0;
  std::uint64_t restarts = 0;
  std::uint64_t skips = 0;
  std::uint64_t factor_changes = 0;
  std::uint64_t store_failures = 0;
};

class World {
 public:
  explicit World(std::uint64_t seed);
  ~World();

  // Runs the whole schedule. Returns what is wrong, or an empty text.
  std::string run(Coverage& coverage);
  // The stream of this world, for the report of a failure.
  std::string describe() const;

 private:
  void make_core();
  void make_fetcher();
  void step();
  void step_everything();
  bool all_done() const;
  void let_trainer_act(SimTrainer& trainer);
  void join(SimTrainer& trainer);
  void retire_passes();
  void change_factor();
  void restart();
  std::string check() const;

  Dice dice_;
  SimulatedClock clock_;
  Faults faults_;
  plan::PlanSpec spec_;
  std::uint32_t workers_;
  engine::WorkerPool pool_{0};
  SimDataSet* data_set_ = nullptr;
  engine::Fetcher* fetcher_ = nullptr;  // of core_
  Status failure_;
  std::shared_ptr<engine::StreamCore> core_;
  std::vector<std::shared_ptr<engine::Pass>> passes_;
  std::vector<std::unique_ptr<SimTrainer>> trainers_;
  Coverage coverage_;
};

}  // namespace echoline::simulation
