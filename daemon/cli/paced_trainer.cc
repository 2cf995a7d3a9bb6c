#include "cli/paced_trainer.h"

#include <algorithm>
#include <chrono>
#include <echoline/echoline.hpp>
#include <exception>
#include <utility>

namespace echoline::cli {
namespace {

using Clock = std::chrono::steady_clock;

// How often it looks whether it has to stop.
constexpr std::chrono::milliseconds kStopCheck{100};

}  // namespace

PacedTrainer::PacedTrainer(const std::string& runtime_dir, std::string stream,
                           double rows_per_second)
    : stream_(std::move(stream)), rows_per_second_(rows_per_second) {
  thread_ = std::thread([this, runtime_dir] { run(runtime_dir); });
}

PacedTrainer::~PacedTrainer() {
  stopping_ = true;
  thread_.join();
}

Status PacedTrainer::status() const {
  const MutexLock lock(mutex_);
  return status_;
}

void PacedTrainer::run(const std::string& runtime_dir) {
  try {
    read(runtime_dir);
  } catch (const std::exception& error) {
    const MutexLock lock(mutex_);
    status_ = Status(Code::kUnavailable, error.what());
  }
}

void PacedTrainer::read(const std::string& runtime_dir) {
  LoaderOptions options;
  options.job = "analyze";
  options.runtime_dir = runtime_dir;
  options.reattach = std::chrono::milliseconds(0);
  Loader loader(stream_, options);
  while (!stopping_) {
    // Held while it works, as a trainer does.
    Batch batch;
    if (loader.next_within(kStopCheck, batch) != ECHOLINE_OK) continue;
    if (rows_per_second_ > 0) {
      work_for(static_cast<double>(batch.valid_rows()) / rows_per_second_);
    }
  }
}

void PacedTrainer::work_for(double seconds) const {
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));
  while (!stopping_ && Clock::now() < end) {
    std::this_thread::sleep_until(std::min(end, Clock::now() + kStopCheck));
  }
}

}  // namespace echoline::cli
