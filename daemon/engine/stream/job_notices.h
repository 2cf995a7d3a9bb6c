// Notices to trainers about other jobs of their stream, and about its bad records.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/api/attach.h"
#include "engine/jobs/consumers.h"
#include "engine/open/bad_records.h"

namespace echoline::engine {

// Before `newcomer` is one of the consumers: another job has its name, or its job's other ranks
// read another pass.
void notify_of_newcomer(const std::string& stream_name, const Consumer& newcomer,
                        const Consumers& consumers, std::vector<TrainerNotice>& notices);

// Notifies trainers that have waited for these jobs of publish.jobs for over 2 s, once, and names
// the jobs. Jobs that are started together attach together: no notice before that.
void notify_of_missing_jobs(const std::string& missing_jobs, Consumers& consumers,
                            std::uint64_t now_ns, std::vector<TrainerNotice>& notices);

// Notifies one trainer of each job of the first bad record, once for each time that it attaches.
void notify_of_bad_records(const BadRecords& bad_records, Consumers& consumers,
                           std::vector<TrainerNotice>& notices);

}  // namespace echoline::engine
