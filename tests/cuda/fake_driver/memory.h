// Device memory, which is the host's between two guard pages, and the ranges of the host's memory
// that the device may read.
#pragma once

#include <cstddef>
#include <map>

#include "cuda/fake_driver/codes.h"
#include "cuda/fake_driver/stream.h"

namespace echoline::cuda_test {

// Its end is up against a guard page, but for what CUDA's alignment of 256 bytes leaves.
struct Mapping {
  void* memory = nullptr;  // null: the host has none
  std::size_t bytes = 0;

  static Mapping make(std::size_t bytes);
  void unmap() const;
};

// By their first address.
using Mappings = std::map<std::uintptr_t, Mapping>;

// The mapping that has all of the range; null if none does.
const Mapping* holding(const Mappings& mappings, std::uintptr_t begin, std::size_t bytes);

// Whether the host can read all of the range, and write to it.
struct HostAccess {
  bool readable = false;
  bool writable = false;
};
HostAccess host_access(const HostRange& range);

}  // namespace echoline::cuda_test
