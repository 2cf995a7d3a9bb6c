// Anonymous shared memory (memfd): creates it with all pages allocated, and seals it.
#pragma once

#include <boost/interprocess/detail/os_file_functions.hpp>
#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "base/unique_fd.h"
#include "ring/available_memory.h"

namespace echoline::ring {

// Adapts a file descriptor to Boost's mapped_region.
struct Mappable {
  int fd;
  boost::interprocess::mapping_handle_t get_mapping_handle() const {
    return boost::interprocess::ipcdetail::mapping_handle_from_file_handle(fd);
  }
};

enum class Sealing {
  kSize,   // the length can't change, so no peer can remove a page that the daemon reads
  kWrite,  // also: no new writable mapping and no write(); existing mappings stay writable
};

// Creates a memfd of `bytes` zeroes with all pages allocated. kResourceExhausted says how much is
// needed, how much is available, and what limits it. `folders` is where to read the kernel's
// numbers; tests replace it.
Result<UniqueFd> make_shared_memory(const char* name, std::uint64_t bytes,
                                    const KernelFolders& folders = {});

// Final: afterwards no seal can be added or removed.
Status seal_shared_memory(int fd, Sealing sealing);

}  // namespace echoline::ring
