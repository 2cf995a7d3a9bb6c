// Compares the kernels with the memory's bandwidth: bytes read and written per second, and a copy
// of the same size from device to device in the same rounds. Prints rates; has no goals.
//   kernel_bandwidth [--rows 256] [--side 224] [--rounds 21] [--device 0]
#include <cstdio>
#include <random>

#include "bench/gpu/gpu.h"
#include "cuda/kernels.h"

namespace echoline::gpu {
namespace {

using namespace client::cuda;

// The number of batches that are used in turn, so that none is still in the device's cache; and of
// launches between two events, so that the events take a small part of the time.
constexpr int kBatches = 6;
constexpr int kLaunches = 12;

struct Case {
  std::string name;
  double bytes;  // read and written
  std::function<void(int batch)> launch;
  std::vector<double> seconds;
  std::vector<double> copy_seconds;
};

class Bench {
 public:
  Bench(Gpu& gpu, std::uint32_t rows, std::uint32_t side) : gpu_(gpu), rows_(rows), side_(side) {
    Gpu::must(Kernels::load(gpu_.driver(), kernels_));
    std::vector<std::uint8_t> noise(values());
    std::mt19937_64 random(1);
    for (std::uint8_t& byte : noise) byte = static_cast<std::uint8_t>(random());
    std::vector<std::uint8_t> flips(rows);
    for (std::uint32_t row = 0; row < rows; ++row) flips[row] = row % 2;
    for (int batch = 0; batch < kBatches; ++batch) {
      pixels_.push_back(gpu_.filled(noise.data(), noise.size()));
      outs_.push_back(gpu_.memory(values() * sizeof(float)));
    }
    flips_ = gpu_.filled(flips.data(), flips.size());
    add_offsets();
  }

  void add_normalize(const char* name, echoline_dtype dtype, Layout layout, bool flip,
                     std::uint32_t narrower = 0) {
    const std::uint32_t width = side_ - narrower;
    const int element = dtype == ECHOLINE_FLOAT32 ? 4 : 2;
    add(name, 3.0 * rows_ * side_ * width * (1 + element), [=, this](int batch) {
      NormalizeParams p{};
      p.pixels = at(pixels_[batch]);
      p.out = at(outs_[batch]);
      p.flips = flip ? at(flips_) : nullptr;
      p.rows = rows_;
      p.height = side_;
      p.width = width;
      p.channels = 3;
      for (float& scale : p.scale) scale = 0.0171F;
      for (float& shift : p.shift) shift = -2.1F;
      Gpu::must(kernels_->normalize(p, dtype, layout, gpu_.stream()));
    });
  }

  void add_flip() {
    add("flip", 2.0 * static_cast<double>(values()), [this](int batch) {
      FlipParams p{};
      p.pixels = at(pixels_[batch]);
      p.out = at(outs_[batch]);
      p.flips = at(flips_);
      p.rows = rows_;
      p.height = p.width = side_;
      p.pixel_bytes = 3;
      Gpu::must(kernels_->flip(p, gpu_.stream()));
    });
  }

  // Rows of 4-byte elements, three quarters full; every second row begins between two words of
  // eight bytes. The input is another batch's output, which is large enough.
  void add_pad() {
    add("pad", 1.75 * rows_ * static_cast<double>(padded_row_bytes()), [this](int batch) {
      PadParams p{};
      p.values = at(outs_[(batch + 1) % kBatches]);
      p.offsets = offsets_;
      p.out = at(outs_[batch]);
      p.row_bytes = padded_row_bytes();
      p.element_bytes = 4;
      p.rows = rows_;
      Gpu::must(kernels_->pad(p, gpu_.stream()));
    });
  }

  void run(long rounds) {
    for (long round = 0; round <= rounds; ++round) {
      for (Case& one : cases_) {
        const double seconds = gpu_.seconds([&] {
          for (int i = 0; i < kLaunches; ++i) one.launch(i % kBatches);
        });
        const double copied = gpu_.seconds([&] { copy(static_cast<std::size_t>(one.bytes / 2)); });
        if (round == 0) continue;  // warms up
        one.seconds.push_back(seconds / kLaunches);
        one.copy_seconds.push_back(copied / kLaunches);
      }
    }
  }

  void print() const {
    const double peak = gpu_.peak_bandwidth();
    std::printf("%s, %.0f GB/s by its memory's clock and width (0: not told)\n",
                gpu_.name().c_str(), peak / 1e9);
    std::printf("%u rows of %u x %u x 3\n", rows_, side_, side_);
    std::printf("%-34s %8s %9s %8s %8s\n", "kernel", "MB", "us", "GB/s", "of copy");
    for (const Case& one : cases_) {
      const double seconds = median(one.seconds);
      std::printf("%-34s %8.1f %9.1f %8.0f %7.1f%%\n", one.name.c_str(), one.bytes / 1e6,
                  seconds * 1e6, one.bytes / seconds / 1e9,
                  100 * median(one.copy_seconds) / seconds);
    }
    std::printf("goal for normalise: 80%% of copy or more\n");
  }

 private:
  void add(const char* name, double bytes, std::function<void(int)> launch) {
    cases_.push_back({name, bytes, std::move(launch), {}, {}});
  }
  std::size_t values() const { return std::size_t{rows_} * side_ * side_ * 3; }
  std::uint64_t padded_row_bytes() const { return std::uint64_t{side_} * side_ * 2 * 4; }
  static std::uint8_t* at(DevicePointer memory) { return reinterpret_cast<std::uint8_t*>(memory); }

  void add_offsets() {
    std::vector<std::uint64_t> offsets{0};
    for (std::uint32_t row = 0; row < rows_; ++row) {
      offsets.push_back(offsets.back() + padded_row_bytes() / 16 * 12 - 4);
    }
    offsets_ = reinterpret_cast<const std::uint64_t*>(
        gpu_.filled(offsets.data(), offsets.size() * sizeof offsets[0]));
  }

  // From one batch's output to the next: reads as many bytes as it writes.
  void copy(std::size_t bytes) {
    for (int i = 0; i < kLaunches; ++i) {
      gpu_.must(gpu_.more().copy_on_device(outs_[(i + 1) % kBatches], outs_[i % kBatches], bytes,
                                           gpu_.stream()),
                "can't copy on the device");
    }
  }

  Gpu& gpu_;
  std::uint32_t rows_;
  std::uint32_t side_;
  std::unique_ptr<Kernels> kernels_;
  std::vector<DevicePointer> pixels_;
  std::vector<DevicePointer> outs_;
  DevicePointer flips_ = 0;
  const std::uint64_t* offsets_ = nullptr;
  std::vector<Case> cases_;
};

}  // namespace
}  // namespace echoline::gpu

int main(int count, char** arguments) {
  using namespace echoline::gpu;
  using echoline::client::cuda::Layout;
  Gpu gpu(static_cast<int>(option(count, arguments, "device", 0)));
  Bench bench(gpu, static_cast<std::uint32_t>(option(count, arguments, "rows", 256)),
              static_cast<std::uint32_t>(option(count, arguments, "side", 224)));
  bench.add_normalize("normalize float32 chw", ECHOLINE_FLOAT32, Layout::kChw, false);
  bench.add_normalize("normalize float32 hwc", ECHOLINE_FLOAT32, Layout::kHwc, false);
  bench.add_normalize("normalize float16 chw", ECHOLINE_FLOAT16, Layout::kChw, false);
  bench.add_normalize("normalize float16 hwc", ECHOLINE_FLOAT16, Layout::kHwc, false);
  bench.add_normalize("normalize bfloat16 chw", ECHOLINE_BFLOAT16, Layout::kChw, false);
  bench.add_normalize("normalize bfloat16 chw, flips", ECHOLINE_BFLOAT16, Layout::kChw, true);
  bench.add_normalize("normalize bfloat16 hwc, flips", ECHOLINE_BFLOAT16, Layout::kHwc, true);
  bench.add_normalize("normalize bfloat16 chw, odd width", ECHOLINE_BFLOAT16, Layout::kChw, false,
                      1);
  bench.add_normalize("normalize bfloat16 hwc, odd width", ECHOLINE_BFLOAT16, Layout::kHwc, false,
                      1);
  bench.add_flip();
  bench.add_pad();
  bench.run(option(count, arguments, "rounds", 21));
  bench.print();
  return 0;
}
