// A trainer of a simulation: reads batches of a pass from the shared memory as any trainer does,
// and compares every row with the plan, when it gets the batch and again when it gives it back.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "engine/pass/pass.h"
#include "engine/walk/factor_history.h"
#include "ring/trainer.h"
#include "simulation/sim_data.h"

namespace echoline::simulation {

class SimTrainer {
 public:
  SimTrainer(const SimDataSet& data_set, const plan::Plan& plan, plan::Position start,
             std::uint64_t batches_wanted)
      : data_set_(data_set),
        plan_(plan),
        next_(start),
        history_(plan),
        batches_left_(batches_wanted) {}

  bool is_done() const { return batches_left_ == 0 && held_.empty(); }
  bool wants_more() const { return batches_left_ > 0; }
  const std::shared_ptr<engine::Pass>& pass() const { return pass_; }
  plan::Position position() const { return next_; }
  const engine::OrderHistory& history() const { return history_; }

  void attach(std::shared_ptr<engine::Pass> pass, const ring::Ring::Reader& reader);
  // As a process that exits or is killed; what it holds is gone.
  void detach();
  // Takes the next batch if it is published. False: there is none.
  bool read();
  // Gives back the oldest batch that it holds. False: it holds none.
  bool release();
  // Leaves out what is left of the epoch, as `break` does.
  void skip_epoch();

  const std::string& fault() const { return fault_; }
  std::uint64_t rows() const { return rows_; }
  std::uint64_t replaced() const { return replaced_; }

 private:
  struct Held {
    shm::Descriptor descriptor;
    std::vector<plan::FactorChange> factors;  // of its epoch
    bool factors_known;
  };

  void check(const Held& held);
  void check_row(const shm::Descriptor& descriptor, std::uint32_t row,
                 const plan::RowUse& expected);
  // The ragged field of a row.
  void check_rest(const shm::Descriptor& descriptor, std::uint32_t row, std::uint64_t sample);
  std::uint64_t expected_sample(std::uint32_t epoch, std::uint64_t record) const;
  void fail(const shm::Descriptor& descriptor, const std::string& what);

  const SimDataSet& data_set_;
  const plan::Plan& plan_;
  plan::Position next_;
  engine::OrderHistory history_;  // what it knew when it left its last pass
  std::uint64_t batches_left_;
  std::shared_ptr<engine::Pass> pass_;
  std::uint64_t reader_id_ = 0;
  std::unique_ptr<ring::Trainer> memory_;
  std::deque<Held> held_;
  std::string fault_;
  std::uint64_t rows_ = 0;
  std::uint64_t replaced_ = 0;
};

}  // namespace echoline::simulation
