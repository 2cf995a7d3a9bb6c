#include "cuda/allocations.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

std::atomic<int> left{-1};

bool is_to_fail() {
  if (left.load(std::memory_order_relaxed) < 0) return false;
  char name[16] = "";
  pthread_getname_np(pthread_self(), name, sizeof(name));
  return std::strcmp(name, "echoline-copy") == 0 && left.fetch_sub(1) == 0;
}

}  // namespace

namespace echoline::cuda_test {

void fail_allocation(int before) { left = before; }

}  // namespace echoline::cuda_test

void* operator new(std::size_t bytes) {
  void* const memory = is_to_fail() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
