// Two answers of a daemon, a second apart, for the tests of what is made of them.
#pragma once

#include "echoline/v1/control.pb.h"

namespace echoline::top {

// Two streams. "train" echoes samples from S3, has a cache of two levels and three trainers, of
// which one is behind; "eval" has nobody.
v1::WatchStatsResponse first_answer();
v1::WatchStatsResponse second_answer();

}  // namespace echoline::top
