#include "decode/allocations.h"

#include <cstdlib>
#include <new>

namespace echoline {

std::atomic<long> allocation_count{0};

}  // namespace echoline

// With malloc and free, so that sanitizers see matching pairs.
void* operator new(std::size_t bytes) {
  ++echoline::allocation_count;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
