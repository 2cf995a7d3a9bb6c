// What limits a stream now, in one sentence, and what to do about it.
#pragma once

#include <string>

#include "engine/api/stats.h"

namespace echoline::engine {

// Below this share of their time, trainers' waits count as none.
inline constexpr double kWaitsShare = 0.05;
// Below this much time of trainers, nothing is said yet.
inline constexpr std::uint64_t kLeastAttachedNs = 2'000'000'000;

// By what the trainers waited for in the last seconds (stats.recent), the ratio R, the echo factor,
// and how servers, caches and slow jobs are doing. Pure function.
//
// With R, the time upstream of the echo point over the time downstream of it for one batch, factors
// up to R cost no time (Choi et al., arXiv 1907.05550, section 3.1).
Verdict verdict(const StreamStats& stats);
// How far a stream is that is being opened, for people.
std::string opening_text(const IndexingStats& indexing);
// What limits a stream whose trainers wait for this cause, as in Verdict::limit.
const char* limit_of(WaitCause cause);

}  // namespace echoline::engine
