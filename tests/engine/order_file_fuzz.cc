// Arbitrary bytes as a file of record ids: refused, or at most one id for each byte. The same file
// gives the same ids.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "engine/open/order_file.h"

namespace {

echoline::Status read_ids(const std::string& path, std::vector<std::uint64_t>& ids) {
  return echoline::engine::for_each_id(path, [&ids](std::uint64_t id) -> echoline::Status {
    ids.push_back(id);
    return {};
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // One file in memory for all inputs.
  static const int kFile = memfd_create("order", MFD_CLOEXEC);
  static const std::string kPath = "/proc/self/fd/" + std::to_string(kFile);
  if (::ftruncate(kFile, static_cast<off_t>(size)) != 0) return 0;
  if (::pwrite(kFile, data, size, 0) != static_cast<ssize_t>(size)) return 0;
  std::vector<std::uint64_t> ids, again;
  const echoline::Status status = read_ids(kPath, ids);
  if (ids.size() > size + 1) std::abort();
  if (status.message() != read_ids(kPath, again).message() || ids != again) std::abort();
  return 0;
}
