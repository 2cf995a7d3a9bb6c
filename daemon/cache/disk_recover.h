// The start of a disk cache: repairs what a crash left half written, and frees what is no longer
// wanted.
#pragma once

#include "cache/disk_log.h"
#include "cache/disk_options.h"
#include "cache/disk_space.h"

namespace echoline::cache {

// Before any other thread uses the files. Waits at most one second for the lock file; without it,
// the first flush reads the log instead.
void recover_disk(const DiskOptions& options, const DiskSpace& space, DiskLog& log, int data_fd);

}  // namespace echoline::cache
