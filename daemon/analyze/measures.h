// What is measured of a running stream: the input of the model (docs/analyze.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace echoline::analyze {

// Where a use begins: what its repeats share comes before it.
enum class Place : std::uint8_t { kNone, kRecord, kSample, kAugmented, kBatch };
// The names of StreamStatus.echo_point, by Place.
inline constexpr std::string_view kPlaceNames[] = {"none", "record", "sample", "augmented",
                                                   "batch"};
inline std::string_view name_of(Place place) {
  return kPlaceNames[static_cast<std::size_t>(place)];
}

// Seconds of one core for one row. A step of the pipeline, as StepCost has it.
struct StepTime {
  std::string step;
  double seconds_a_row = 0;
  double share = 0;  // of the workers' time
};

// Fewer of them in the interval say little about the trainers' rate.
inline constexpr std::uint64_t kBatchesMin = 10;

// Fewer of them in the interval say nothing about the store's latency.
inline constexpr int kRequestsMin = 20;

// Requests to the store, means over the interval. Unknown for local files, whose requests have no
// latency of their own: then all are 0.
struct StoreRequests {
  double answer_seconds = 0;  // to the first byte
  double body_seconds = 0;    // from there to the last byte
  double in_flight = 0;       // while there were any
  double in_flight_max = 0;   // that read.concurrency and read.read_ahead allow
};

// Means over windows, as RatePoint of the control service has them.
struct StoreRate {
  double in_flight = 0;  // requests
  double bytes_per_second = 0;
  double answer_bytes = 0;
  std::uint64_t windows = 0;
  double age_seconds = 0;  // of the last window
};

// What the daemon got from an endpoint, for all its streams, at each number of requests in flight.
struct StoreRates {
  std::string endpoint;
  bool short_answers = false;
  std::vector<StoreRate> points{};  // ascending requests; empty: none was measured
};

// Rates are per second, over the time in which the part worked; 0: unknown.
struct Measures {
  double seconds = 0;         // the interval
  std::uint64_t batches = 0;  // in it, of the trainer that took the fewest
  double rows = 0;            // published per second in it, by all passes
  double stall = 0;           // the share of their time that trainers waited for the daemon
  double trainer_rows = 0;    // G: rows that the trainers of a pass take when batches are there
  std::uint32_t passes = 1;   // that trainers read

  std::uint32_t workers = 1;
  std::uint32_t processors = 1;
  // Whether workers without work were kept awake, so that rows cost what they cost busy workers.
  Status awake{};
  double core_share = 1;  // of a busy worker's time in which it has a core
  // Steps run users' code in processes of their own: a worker without a core may wait for them.
  bool calls_code = false;
  bool has_data_set = false;  // of the user's, in Python: its samples are whole
  double decode_seconds = 0;  // of a core, for a record that is decoded
  double use_seconds = 0;     // of a core, for the steps after `decode`
  double copy_seconds = 0;    // of a core, for a use of a finished row
  std::vector<StepTime> steps{};

  double store_records = 0;  // S: per second, while reads were at the store
  StoreRequests requests{};
  std::uint64_t concurrency = 0;          // read.concurrency, over the sources
  std::vector<StoreRates> store_rates{};  // also from before the interval
  double cache_records = 0;               // C: the same for caches; 0: takes no time, as memory
  double cached = 0;                      // share of the records that came from caches
  std::uint64_t records = 0;              // of the data set
  std::uint64_t record_bytes = 0;
  std::uint64_t batch_rows = 0;

  Place place = Place::kNone;
  double factor = 1;      // of the rows that were published in the interval
  double set_factor = 1;  // set last: read-ahead and passes of older states can have another one
};

}  // namespace echoline::analyze
