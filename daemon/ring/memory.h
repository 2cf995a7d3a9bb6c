// Anonymous shared memory (memfd): made, filled with pages, sealed.
#pragma once

#include <boost/interprocess/detail/os_file_functions.hpp>
#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "base/unique_fd.h"
#include "ring/available_memory.h"

namespace echoline::ring {

// A descriptor as Boost's mapped_region wants it.
struct Mappable {
  int fd;
  boost::interprocess::mapping_handle_t get_mapping_handle() const {
    return boost::interprocess::ipcdetail::mapping_handle_from_file_handle(fd);
  }
};

enum class Sealing {
  kSize,   // nobody can change its length: no peer can make a page of ours vanish
  kWrite,  // beside that, no new writable mapping and no write(); those that exist stay
};

// A memfd of `bytes` zeroes whose pages are all there. kResourceExhausted names what is needed,
// what there is and what bounds it. `folders` is where the kernel tells of free memory.
Result<UniqueFd> make_shared_memory(const char* name, std::uint64_t bytes,
                                    const KernelFolders& folders = {});

// Final: no seal can be added or taken off afterwards.
Status seal_shared_memory(int fd, Sealing sealing);

}  // namespace echoline::ring
