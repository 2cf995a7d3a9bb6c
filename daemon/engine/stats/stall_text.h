// A stall report for people.
#pragma once

#include <string>
#include <vector>

#include "engine/api/stall_report.h"

namespace echoline::engine {

// A trainer: "job default rank 0 (process 123)".
std::string trainer_text(const std::string& job, std::uint32_t rank, std::int64_t pid);

// One line for each trainer that waits, stage, read and holder; reads no `lines`. Pure function.
std::vector<std::string> stall_lines(const StallReport& report);

}  // namespace echoline::engine
