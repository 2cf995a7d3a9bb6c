// Two answers of a daemon, one second apart, as input for tests.
#pragma once

#include "echoline/v1/control.pb.h"

namespace echoline::top {

// Two streams. "train" echoes samples from S3, and has a cache of two levels and three trainers,
// one of which is behind. "eval" has no trainer.
v1::WatchStatsResponse first_answer();
v1::WatchStatsResponse second_answer();

}  // namespace echoline::top
