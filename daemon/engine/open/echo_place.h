// Which place an `echo` gets that a stream leaves to the daemon, from what its steps cost.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "echoline/v1/config.pb.h"
#include "engine/open/step_account.h"

namespace echoline::engine {

// Seconds for one record while everything runs at full speed. Trainers are not among them: there
// are none yet, and a slow one needs no echo.
struct RecordTimes {
  double fetch = 0;
  std::vector<double>
      steps;  // by step of the pipeline, shared by all workers; `batch` has the rest
};

// `costs` are those of StepAccount, of so many workers.
RecordTimes record_times(const v1::Stream& stream, double fetch_seconds,
                         const std::map<std::string, StepAccount::Cost>& costs,
                         std::size_t workers);

struct PlaceRatio {
  int place = 0;     // as of config::echo_places
  double ratio = 0;  // R without trainers: the time of all before it over the time of all after it
};
std::vector<PlaceRatio> place_ratios(const v1::Stream& stream, const RecordTimes& times);
// The places in the order in which they are wanted. First the earliest one where `uses` of a record
// need no longer than a new record (R >= uses), because an early echo repeats least; then those
// after it; then the others, by R.
std::vector<PlaceRatio> wanted_places(std::vector<PlaceRatio> ratios, double uses);

// What limits: "fetching (12.0 ms a record)" or "'decode' (3.1 ms)".
std::string slowest_text(const v1::Stream& stream, const RecordTimes& times);

}  // namespace echoline::engine
