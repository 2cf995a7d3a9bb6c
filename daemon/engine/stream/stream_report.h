// What a stream reports of its definition and counters, and the states of its jobs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "echoline/v1/config.pb.h"
#include "engine/api/stats.h"
#include "engine/jobs/attached_trainers_file.h"
#include "engine/jobs/consumers.h"
#include "engine/open/stream_core.h"

namespace echoline::engine {

// What does not change while the stream lives, except for the factor.
void report_definition(const StreamCore& core, const v1::Stream& definition,
                       const PresentFactor& present, const Weights& weights, StreamStats& stats);

// The counters that the passes, the fetcher and the caches keep.
void report_counters(const StreamCore& core, StreamStats& stats);

// The state that each job would save now, as JSON, by job. All ranks of a job save the same one.
std::map<std::string, std::string> states_of(const StreamCore& core, const Consumers& consumers);

// The attached trainers after those that are expected back.
std::vector<Trainer> trainers_of(const StreamCore& core, const std::vector<Trainer>& expected,
                                 const Consumers& consumers);

}  // namespace echoline::engine
