// Frees the disk space of dead values in the data file.
#pragma once

#include <vector>

#include "cache/disk_log.h"

namespace echoline::cache {

// With the lock of the DiskSpace held. Adjacent values are freed together, because a file system
// only frees whole pages. Space that it can't free still counts in log.used_bytes().
void punch_holes(int data_fd, std::vector<DiskValue> dead, DiskLog& log);

}  // namespace echoline::cache
