#include "bench/gpu/pinned_copies.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace echoline::gpu {

using namespace client::cuda;

PinnedCopies::PinnedCopies(Gpu& gpu, Memory memory, std::size_t bytes)
    : gpu_(gpu), memory_(memory), bytes_(bytes) {
  if (memory_ == Memory::kAllocated) {
    allocate();
  } else {
    register_mapping();
  }
  for (int i = 0; i < kBatches; ++i) {
    std::memset(batch(i), i + 1, bytes_);
    device_.push_back(gpu_.memory(bytes_));
  }
}

void PinnedCopies::allocate() {
  void* memory = nullptr;
  gpu_.must(gpu_.driver().host_alloc(&memory, bytes_ * kBatches, kHostAllocPortable),
            "can't allocate pinned memory");
  host_ = static_cast<std::byte*>(memory);
}

void PinnedCopies::register_mapping() {
  const int fd = memfd_create("pinned_copies", MFD_CLOEXEC);
  const std::size_t bytes = bytes_ * kBatches;
  void* memory = MAP_FAILED;
  if (fd >= 0 && ftruncate(fd, static_cast<off_t>(bytes)) == 0) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  }
  if (memory == MAP_FAILED) {
    std::perror("can't make shared memory");
    std::exit(1);
  }
  close(fd);
  host_ = static_cast<std::byte*>(memory);
  gpu_.must(gpu_.driver().host_register(host_, bytes, kHostRegisterPortable),
            "can't pin shared memory");
}

PinnedCopies::~PinnedCopies() {
  if (memory_ == Memory::kAllocated) {
    gpu_.driver().host_free(host_);
  } else {
    gpu_.driver().host_unregister(host_);
    munmap(host_, bytes_ * kBatches);
  }
}

double PinnedCopies::rate(int copies) {
  const double seconds = gpu_.seconds([&] {
    for (int i = 0; i < copies; ++i) {
      gpu_.must(
          gpu_.driver().copy_to_device(device_[i % kBatches], batch(i), bytes_, gpu_.stream()),
          "can't copy to the device");
    }
  });
  return static_cast<double>(bytes_) * copies / seconds;
}

}  // namespace echoline::gpu
