// Building blocks of the kernels' code. nvcc compiles it for the device. The tests compile it for
// the host too, where a sanitizer sees every access out of range.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>

#ifdef __CUDACC__
#define ECHOLINE_DEVICE __host__ __device__ __forceinline__
#define ECHOLINE_UNROLL _Pragma("unroll")
#else
#define ECHOLINE_DEVICE inline
#define ECHOLINE_UNROLL
#endif

namespace echoline::client::cuda {

// Threads in a block. Eight warps: whole blocks fill a multiprocessor, and a small image still
// keeps most of them busy.
inline constexpr std::uint32_t kThreadsMax = 256;

// A thread of a launch. It does one unit of work in each of its rows. Rows are along the grid's y;
// if the grid has fewer, a thread does several rows, `row_step` apart. The host computes the number
// of units with the same function that the thread uses.
struct Thread {
  std::uint64_t unit;
  std::uint32_t first_row;
  std::uint32_t row_step;
};

template <typename Work>
ECHOLINE_DEVICE void for_each_row(const Thread& thread, std::uint32_t rows, std::uint64_t units,
                                  Work work) {
  if (thread.unit >= units) return;
  for (std::uint64_t row = thread.first_row; row < rows; row += thread.row_step) {
    work(static_cast<std::uint32_t>(row));
  }
}

// Numbers that one access reads or writes.
template <typename Number, int kNumbers>
struct alignas(sizeof(Number) * kNumbers) Vector {
  Number numbers[kNumbers];
};

ECHOLINE_DEVICE bool aligned(const void* address, std::uint32_t bytes) {
  return reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}

#ifdef __CUDA_ARCH__

template <typename Vector>
__device__ __forceinline__ Vector load(const std::uint8_t* address) {
  return *reinterpret_cast<const Vector*>(address);
}

// Uses the intrinsic: nvcc splits some assignments of whole vectors into single numbers.
template <typename Number, int kNumbers>
__device__ __forceinline__ void store(void* address, const Vector<Number, kNumbers>& vector) {
  constexpr int kBytes = sizeof(vector);
  if constexpr (kBytes == 16) {
    uint4 words;
    std::memcpy(&words, &vector, kBytes);
    __stwb(static_cast<uint4*>(address), words);
  } else if constexpr (kBytes == 8) {
    uint2 words;
    std::memcpy(&words, &vector, kBytes);
    __stwb(static_cast<uint2*>(address), words);
  } else {
    *static_cast<Vector<Number, kNumbers>*>(address) = vector;
  }
}

#else

// As the device, the host refuses an access that is not aligned.
inline void must_be_aligned(const void* address, std::uint32_t bytes) {
  if (!aligned(address, bytes)) std::abort();
}

template <typename Vector>
Vector load(const std::uint8_t* address) {
  must_be_aligned(address, alignof(Vector));
  Vector vector;
  std::memcpy(&vector, address, sizeof vector);
  return vector;
}

template <typename Number, int kNumbers>
void store(void* address, const Vector<Number, kNumbers>& vector) {
  must_be_aligned(address, alignof(Vector<Number, kNumbers>));
  std::memcpy(address, &vector, sizeof vector);
}

#endif

}  // namespace echoline::client::cuda
