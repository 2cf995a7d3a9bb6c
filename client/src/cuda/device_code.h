// What the kernels' code is made of. It is compiled for the device by nvcc and, for the tests, for
// the host, so that every index is tried where an access out of range is seen.
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

// Of a block. Eight warps: enough to fill a multiprocessor with whole blocks, few enough that a
// small image keeps most of them busy.
inline constexpr std::uint32_t kThreadsMax = 256;

// A thread of a launch. It does one unit of work in each of its rows: rows lie along the grid's y
// and, where they are more than a grid has, come in turns. The host counts the units by the very
// function that the thread compares its own with.
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

// Numbers that are read or written in one access.
template <typename Number, int kNumbers>
struct alignas(sizeof(Number) * kNumbers) Vector {
  Number numbers[kNumbers];
};

ECHOLINE_DEVICE bool aligned(const void* place, std::uint32_t bytes) {
  return reinterpret_cast<std::uintptr_t>(place) % bytes == 0;
}

#ifdef __CUDA_ARCH__

template <typename Vector>
__device__ __forceinline__ Vector load(const std::uint8_t* place) {
  return *reinterpret_cast<const Vector*>(place);
}

// By the name of the instruction: nvcc cuts some assignments of whole vectors into single numbers.
template <typename Number, int kNumbers>
__device__ __forceinline__ void store(void* place, const Vector<Number, kNumbers>& vector) {
  constexpr int kBytes = sizeof(vector);
  if constexpr (kBytes == 16) {
    uint4 words;
    std::memcpy(&words, &vector, kBytes);
    __stwb(static_cast<uint4*>(place), words);
  } else if constexpr (kBytes == 8) {
    uint2 words;
    std::memcpy(&words, &vector, kBytes);
    __stwb(static_cast<uint2*>(place), words);
  } else {
    *static_cast<Vector<Number, kNumbers>*>(place) = vector;
  }
}

#else

// As strict as the device.
inline void must_be_aligned(const void* place, std::uint32_t bytes) {
  if (!aligned(place, bytes)) std::abort();
}

template <typename Vector>
Vector load(const std::uint8_t* place) {
  must_be_aligned(place, alignof(Vector));
  Vector vector;
  std::memcpy(&vector, place, sizeof vector);
  return vector;
}

template <typename Number, int kNumbers>
void store(void* place, const Vector<Number, kNumbers>& vector) {
  must_be_aligned(place, alignof(Vector<Number, kNumbers>));
  std::memcpy(place, &vector, sizeof vector);
}

#endif

}  // namespace echoline::client::cuda
