#include "cuda/fake_driver/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>

namespace echoline::cuda_test {
namespace {

constexpr std::size_t kAlignment = 256;

std::size_t page() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

Mapping Mapping::make(std::size_t bytes) {
  const std::size_t inner = round_up(bytes, page());
  void* whole = ::mmap(nullptr, inner + 2 * page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (whole == MAP_FAILED) return {};
  std::byte* first = static_cast<std::byte*>(whole) + page();
  if (::mprotect(first, inner, PROT_READ | PROT_WRITE) != 0) {
    ::munmap(whole, inner + 2 * page());
    return {};
  }
  return {first + inner - round_up(bytes, kAlignment), bytes};
}

void Mapping::unmap() const {
  const std::size_t inner = round_up(bytes, page());
  std::byte* first = static_cast<std::byte*>(memory) + round_up(bytes, kAlignment) - inner;
  ::munmap(first - page(), inner + 2 * page());
}

const Mapping* holding(const Mappings& mappings, std::uintptr_t begin, std::size_t bytes) {
  auto after = mappings.upper_bound(begin);
  if (after == mappings.begin()) return nullptr;
  const Mapping& mapping = std::prev(after)->second;
  return host_range(mapping.memory, mapping.bytes).contains({begin, begin + bytes}) ? &mapping
                                                                                    : nullptr;
}

HostAccess host_access(const HostRange& range) {
  HostAccess access{true, true};
  std::uintptr_t covered = range.begin;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; covered < range.end && std::getline(maps, line);) {
    HostRange mapped;
    char mode[5] = {};
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s", &mapped.begin, &mapped.end,
                    mode) != 3 ||
        mapped.end <= covered) {
      continue;
    }
    if (mapped.begin > covered) break;
    covered = mapped.end;
    access.readable = access.readable && mode[0] == 'r';
    access.writable = access.writable && mode[1] == 'w';
  }
  return covered < range.end ? HostAccess{} : access;
}

}  // namespace echoline::cuda_test
