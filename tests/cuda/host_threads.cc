#include "cuda/host_threads.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "cuda/flip_kernel.h"
#include "cuda/normalize_kernel.h"
#include "cuda/pad_kernel.h"

namespace echoline::cuda_test {
namespace {

using namespace client::cuda;

struct Float32 {
  using Bits = float;
  static Bits round(float value) { return value; }
};

// A float of 16 bits, rounded by the definition of IEEE 754: to the nearest multiple of the last
// place.
template <int kExponentBits>
struct Float16Of {
  using Bits = std::uint16_t;
  static Bits round(float value) {
    constexpr int kMantissaBits = 15 - kExponentBits;
    constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
    constexpr int kInfinity = ((1 << kExponentBits) - 1) << kMantissaBits;
    const int sign = std::signbit(value) ? 0x8000 : 0;
    int exponent = 0;
    std::frexp(value, &exponent);
    exponent = std::max(exponent - 1, 1 - kBias);
    const double places = std::ldexp(std::fabs(double{value}), kMantissaBits - exponent);
    const double bits = std::ldexp(exponent + kBias - 1, kMantissaBits) + std::nearbyint(places);
    return static_cast<Bits>(sign | static_cast<int>(std::min<double>(bits, kInfinity)));
  }
};

template <typename Element, Layout layout>
void run_normalize(const void* params, const Thread& thread) {
  normalize<Element, layout>(*static_cast<const NormalizeParams*>(params), thread);
}

struct Kernel {
  const char* name;
  void (*run)(const void* params, const Thread& thread);
};

Kernel kernels[] = {
    {"echoline_normalize_f32_chw", run_normalize<Float32, Layout::kChw>},
    {"echoline_normalize_f32_hwc", run_normalize<Float32, Layout::kHwc>},
    {"echoline_normalize_f16_chw", run_normalize<Float16Of<5>, Layout::kChw>},
    {"echoline_normalize_f16_hwc", run_normalize<Float16Of<5>, Layout::kHwc>},
    {"echoline_normalize_bf16_chw", run_normalize<Float16Of<8>, Layout::kChw>},
    {"echoline_normalize_bf16_hwc", run_normalize<Float16Of<8>, Layout::kHwc>},
    {"echoline_flip",
     [](const void* params, const Thread& thread) {
       flip(*static_cast<const FlipParams*>(params), thread);
     }},
    {"echoline_pad",
     [](const void* params, const Thread& thread) {
       pad(*static_cast<const PadParams*>(params), thread);
     }},
};

std::vector<Grid> grids;
Code failure = kSuccess;

Code error_text(Code, const char** text) {
  *text = "CUDA_ERROR_OF_A_TEST";
  return kSuccess;
}

Code load_module(ModuleHandle* module, const void*) {
  *module = reinterpret_cast<ModuleHandle>(kernels);
  return failure;
}

Code find_function(FunctionHandle* function, ModuleHandle, const char* name) {
  for (Kernel& kernel : kernels) {
    if (std::strcmp(kernel.name, name) != 0) continue;
    *function = reinterpret_cast<FunctionHandle>(&kernel);
    return kSuccess;
  }
  return kInvalidValue;
}

Code launch(FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned, unsigned block_x,
            unsigned, unsigned, unsigned, StreamHandle, void** parameters, void**) {
  if (failure != kSuccess) return failure;
  grids.push_back({grid_x, grid_y, block_x});
  const auto* kernel = reinterpret_cast<const Kernel*>(function);
  for (unsigned y = 0; y < grid_y; ++y) {
    for (std::uint64_t unit = 0; unit < std::uint64_t{grid_x} * block_x; ++unit) {
      kernel->run(parameters[0], {unit, y, grid_y});
    }
  }
  return kSuccess;
}

}  // namespace

const DriverTable& host_threads() {
  static const DriverTable table = [] {
    DriverTable made;
    made.error_name = error_text;
    made.error_string = error_text;
    made.module_load = load_module;
    made.module_unload = [](ModuleHandle) -> Code { return kSuccess; };
    made.module_function = find_function;
    made.launch_kernel = launch;
    return made;
  }();
  return table;
}

std::vector<Grid> take_grids() { return std::exchange(grids, {}); }

void fail_host_threads(Code code) { failure = code; }

}  // namespace echoline::cuda_test
