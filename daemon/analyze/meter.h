// Measures a running stream from the answers of WatchStats, without disturbing it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "analyze/measures.h"
#include "base/status.h"
#include "echoline/v1/control.pb.h"

namespace echoline::analyze {

// One thread. Answers in their order, from one daemon.
class Meter {
 public:
  explicit Meter(std::string stream) : stream_(std::move(stream)) {}

  // kNotFound without the stream, kFailedPrecondition if it is not ready.
  Status add(const v1::WatchStatsResponse& answer);
  bool has_begun() const { return answers_ > 0; }
  // kFailedPrecondition: none of the first answers had a trainer, so that waiting is idle.
  Status attended() const;
  // kFailedPrecondition: no trainer has taken enough batches.
  Result<Measures> measures() const;

 private:
  // A trainer at the moment when it was seen to have released a batch.
  struct Moment {
    double seconds = 0;
    v1::Consumer trainer;
  };
  struct Trainer {
    Moment first;  // the first release that was seen
    Moment last;
    v1::Consumer look;  // the last one
  };

  void see(const v1::Consumer& consumer, double seconds);

  const std::string stream_;
  std::optional<v1::StreamStatus> first_, last_;
  v1::DaemonStatus daemon_;
  double begin_seconds_ = 0, end_seconds_ = 0;
  std::uint64_t answers_ = 0;
  std::map<std::pair<std::string, std::uint32_t>, Trainer> trainers_;  // by job and rank
};

}  // namespace echoline::analyze
