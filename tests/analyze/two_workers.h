// What the streams of these tests have in common.
#pragma once

#include "analyze/measures.h"

namespace echoline::analyze {

// Two workers, and trainers that take 400 rows per second of 1,000 records of 1 MB.
inline Measures two_workers(double decode_seconds, double use_seconds, double store_records) {
  return {.trainer_rows = 400,
          .workers = 2,
          .processors = 8,
          .decode_seconds = decode_seconds,
          .use_seconds = use_seconds,
          .copy_seconds = 0.0001,
          .store_records = store_records,
          .records = 1000,
          .record_bytes = 1'000'000};
}

}  // namespace echoline::analyze
