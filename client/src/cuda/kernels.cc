#include "cuda/kernels.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <string>

#include "cuda/driver.h"
#include "cuda/flip_kernel.h"
#include "cuda/normalize_kernel.h"
#include "cuda/pad_kernel.h"

namespace echoline::client::cuda {
namespace {

#ifdef ECHOLINE_KERNELS_IMAGE
#include ECHOLINE_KERNELS_IMAGE
constexpr bool kBuilt = true;
#else
constexpr bool kBuilt = false;
constexpr const void* kKernelsImage = nullptr;
#endif

// Indices into kNames; the normalisers are 2 * type + order.
constexpr std::size_t kFlip = 6;
constexpr std::size_t kPad = 7;
constexpr const char* kNames[] = {"echoline_normalize_f32_chw",
                                  "echoline_normalize_f32_hwc",
                                  "echoline_normalize_f16_chw",
                                  "echoline_normalize_f16_hwc",
                                  "echoline_normalize_bf16_chw",
                                  "echoline_normalize_bf16_hwc",
                                  "echoline_flip",
                                  "echoline_pad"};

// The sizes of a warp and of a grid are the same on all devices (CUDA C++ Programming Guide).
constexpr std::uint64_t kWarp = 32;
constexpr std::uint64_t kGridXMax = 0x7fffffff;
constexpr std::uint32_t kGridYMax = 65535;  // a thread does further rows one after the other

// Sizes for an error's text: "4 x 5 x 7".
std::string by(std::initializer_list<std::uint64_t> sizes) {
  std::string text;
  for (const std::uint64_t size : sizes) {
    if (!text.empty()) text += " x ";
    text += std::to_string(size);
  }
  return text;
}

// For parameters that the kernel cannot do.
Error cannot(std::size_t kernel, const std::string& sizes, const char* why) {
  return {ECHOLINE_INVALID_ARGUMENT, std::string(kNames[kernel]) + " of " + sizes + ": " + why};
}

// Inside one image the kernels compute indices in 32 bits.
bool fits(std::uint32_t height, std::uint32_t width, std::uint32_t pixel) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const std::uint64_t area = std::uint64_t{height} * width;
  return area <= kMost && area * pixel <= kMost;
}

}  // namespace

bool Kernels::built() { return kBuilt; }

Error Kernels::load(const DriverTable& driver, std::unique_ptr<Kernels>& kernels) {
  if (built()) return load_image(driver, kKernelsImage, kernels);
  return {ECHOLINE_UNIMPLEMENTED,
          "this build of the library has no kernels; build it where nvcc is found"};
}

// After an error the destructor unloads the module, if it was loaded.
Error Kernels::load_image(const DriverTable& driver, const void* image,
                          std::unique_ptr<Kernels>& kernels) {
  static_assert(std::size(kNames) == kCount);
  std::unique_ptr<Kernels> made(new Kernels(driver));
  Error error = driver_error(driver, driver.module_load(&made->module_, image),
                             "can't load the kernels on this device");
  for (std::size_t k = 0; k < kCount && error.ok(); ++k) {
    error =
        driver_error(driver, driver.module_function(&made->functions_[k], made->module_, kNames[k]),
                     std::string("can't find the kernel ") + kNames[k]);
  }
  if (error.ok()) kernels = std::move(made);
  return error;
}

Kernels::~Kernels() {
  if (module_ != nullptr) driver_.module_unload(module_);
}

Error Kernels::launch(std::size_t kernel, const void* params, std::uint64_t units,
                      std::uint32_t rows, const std::string& sizes, StreamHandle stream) const {
  // The driver refuses an empty grid.
  if (units == 0 || rows == 0) return {};
  // Whole warps, but no more threads than a short row needs.
  const std::uint64_t threads =
      std::min<std::uint64_t>((units + kWarp - 1) / kWarp * kWarp, kThreadsMax);
  const std::uint64_t blocks = (units + threads - 1) / threads;
  if (blocks > kGridXMax) return cannot(kernel, sizes, "the rows are too long for a grid");
  // The driver copies the parameters during the call.
  void* parameters[] = {const_cast<void*>(params)};
  const Code code = driver_.launch_kernel(
      functions_[kernel], static_cast<unsigned>(blocks), std::min(rows, kGridYMax), 1,
      static_cast<unsigned>(threads), 1, 1, 0, stream, parameters, nullptr);
  return driver_error(driver_, code,
                      std::string("can't launch ") + kNames[kernel] + " of " + sizes);
}

Error Kernels::normalize(const NormalizeParams& p, echoline_dtype out, Layout layout,
                         StreamHandle stream) const {
  const std::string sizes = by({p.rows, p.height, p.width, p.channels});
  // See the order of kNames.
  std::size_t kernel = layout == Layout::kChw ? 0 : 1;
  std::uint32_t element_bytes = 2;
  switch (out) {
    case ECHOLINE_FLOAT32:
      element_bytes = 4;
      break;
    case ECHOLINE_FLOAT16:
      kernel += 2;
      break;
    case ECHOLINE_BFLOAT16:
      kernel += 4;
      break;
    default:
      return cannot(kernel, sizes, "pixels become float32, float16 or bfloat16");
  }
  if (p.channels < 1 || p.channels > kChannelsMax) {
    return cannot(kernel, sizes, "the last number, the channels, must be 1 to 8");
  }
  if (!fits(p.height, p.width, p.channels)) {
    return cannot(kernel, sizes, "an image has at most 4294967295 values");
  }
  if (!aligned(p.out, element_bytes)) return cannot(kernel, sizes, "the output is not aligned");
  return launch(kernel, &p, normalize_units(p, layout, element_bytes), p.rows, sizes, stream);
}

Error Kernels::flip(const FlipParams& p, StreamHandle stream) const {
  const std::string sizes = by({p.rows, p.height, p.width, p.pixel_bytes}) + " bytes";
  if (p.pixel_bytes == 0) return cannot(kFlip, sizes, "pixels have at least one byte");
  if (!fits(p.height, p.width, p.pixel_bytes)) {
    return cannot(kFlip, sizes, "an image has at most 4294967295 bytes");
  }
  return launch(kFlip, &p, flip_units(p), p.rows, sizes, stream);
}

Error Kernels::pad(const PadParams& p, StreamHandle stream) const {
  const std::string sizes =
      by({p.rows, p.row_bytes}) + " bytes in elements of " + std::to_string(p.element_bytes);
  const std::uint32_t element = p.element_bytes;
  if (element != 1 && element != 2 && element != 4 && element != 8) {
    return cannot(kPad, sizes, "elements have 1, 2, 4 or 8 bytes");
  }
  if (p.row_bytes % element != 0) return cannot(kPad, sizes, "rows are whole elements");
  return launch(kPad, &p, pad_units(p), p.rows, sizes, stream);
}

}  // namespace echoline::client::cuda
