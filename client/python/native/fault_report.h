// Explains faults on the memory of batches. torch has no read-only tensors: a program that writes
// to one on shared memory ends with SIGSEGV, and nothing else would say which memory it was.
#pragma once

#include <cstddef>
#include <cstdint>

namespace echoline::python {

// For the message. The name is copied, its first 63 bytes.
struct MemoryName {
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;
  const char* field = "";
};

// Installs a handler for SIGSEGV, once. For faults on watched memory it writes a line to stderr.
// Then it restores the handler that it found, which gets the same fault.
void explain_faults();
// Whether it is installed; otherwise there is no need to watch memory.
bool faults_are_explained();

// Watches memory as long as it exists. Create and destroy it with the GIL.
class WatchedMemory {
 public:
  WatchedMemory() = default;
  WatchedMemory(const void* data, std::size_t bytes, const MemoryName& name);
  WatchedMemory(WatchedMemory&& other) noexcept;
  WatchedMemory& operator=(WatchedMemory&& other) noexcept;
  ~WatchedMemory();

 private:
  // Index in a table of limited size, from 1. 0: it is not watched.
  std::size_t place_ = 0;
};

}  // namespace echoline::python
