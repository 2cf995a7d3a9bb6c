#include "bench/gpu/work.h"

#include <algorithm>
#include <cmath>

namespace echoline::gpu {
namespace {

constexpr std::uint32_t kSide = 224;
constexpr std::uint32_t kChannels = 3;
constexpr int kTries = 5;

}  // namespace

using namespace client::cuda;

Work::Work(Gpu& gpu, std::uint32_t rows) : gpu_(gpu) {
  Gpu::must(Kernels::load(gpu.driver(), kernels_));
  const std::size_t values = std::size_t{rows} * kSide * kSide * kChannels;
  params_.pixels = reinterpret_cast<const std::uint8_t*>(gpu.memory(values));
  params_.out = reinterpret_cast<void*>(gpu.memory(2 * values));
  params_.rows = rows;
  params_.height = params_.width = kSide;
  params_.channels = kChannels;
  std::fill_n(params_.scale, kChannels, 0.0171F);
  std::fill_n(params_.shift, kChannels, -2.1F);
  alone();  // warms up
}

void Work::last(double seconds) {
  constexpr int kMany = 32;  // so that the delay of the first launch counts little
  launches_ = kMany;
  launches_ = std::max(1, static_cast<int>(std::lround(seconds / alone() * kMany)));
}

double Work::alone() {
  std::vector<double> seconds;
  for (int i = 0; i < kTries; ++i) seconds.push_back(gpu_.seconds([this] { enqueue(); }));
  return median(seconds);
}

void Work::enqueue() const {
  for (int i = 0; i < launches_; ++i) {
    Gpu::must(kernels_->normalize(params_, ECHOLINE_BFLOAT16, Layout::kChw, gpu_.stream()));
  }
}

}  // namespace echoline::gpu
