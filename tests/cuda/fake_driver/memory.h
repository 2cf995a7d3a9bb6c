// Device memory, which is host memory between two guard pages, and checks of host memory.
#pragma once

#include <cstddef>
#include <map>

#include "cuda/fake_driver/codes.h"
#include "cuda/fake_driver/stream.h"

namespace echoline::cuda_test {

// Ends directly before a guard page, except for the gap that CUDA's alignment of 256 bytes leaves.
struct Mapping {
  void* memory = nullptr;  // null: the host has no memory
  std::size_t bytes = 0;

  static Mapping make(std::size_t bytes);
  void unmap() const;
};

// Mappings by their first address.
using Mappings = std::map<std::uintptr_t, Mapping>;

// The mapping that contains the whole range; null if there is none.
const Mapping* holding(const Mappings& mappings, std::uintptr_t begin, std::size_t bytes);

// Whether the process can read and write the whole range.
struct HostAccess {
  bool readable = false;
  bool writable = false;
};
HostAccess host_access(const HostRange& range);

}  // namespace echoline::cuda_test
