#include "cache/disk_holes.h"

#include <fcntl.h>

#include <algorithm>

namespace echoline::cache {

void punch_holes(int data_fd, std::vector<DiskValue> dead, DiskLog& log) {
  std::sort(dead.begin(), dead.end(),
            [](const DiskValue& one, const DiskValue& other) { return one.offset < other.offset; });
  std::uint64_t freed = 0;
  for (std::size_t i = 0; i < dead.size();) {
    // One range of adjacent values.
    const std::uint64_t begin = dead[i].offset;
    std::uint64_t end = begin;
    for (; i < dead.size() && dead[i].offset == end; ++i) end += dead[i].bytes;
    // KEEP_SIZE: the file keeps its length, so offsets of other values stay right.
    if (::fallocate(data_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                    static_cast<off_t>(end - begin)) == 0) {
      freed += end - begin;
    }
  }
  // If a range could not be freed, it still counts.
  if (freed > 0) log.set_used_bytes(log.used_bytes() - std::min(freed, log.used_bytes()));
}

}  // namespace echoline::cache
