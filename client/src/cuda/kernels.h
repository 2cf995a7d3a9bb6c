// Launches the kernels of one context: normalise, mirror, pad. Their machine code is in the
// library.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "cuda/driver_api.h"
#include "cuda/kernel_params.h"
#include "system/error.h"

namespace echoline::client::cuda {

// Made, used and destroyed with its context current; any thread may launch. A launch is put on the
// stream and nothing waits for it. The memory in the parameters must stay until the stream has
// passed the launch.
class Kernels {
 public:
  // Whether this build of the library has kernels: it has if nvcc was found.
  static bool built();

  // UNIMPLEMENTED if the build has none, or none for this device.
  static Error load(const DriverTable& driver, std::unique_ptr<Kernels>& kernels);
  // From another image with kernels of these names.
  static Error load_image(const DriverTable& driver, const void* image,
                          std::unique_ptr<Kernels>& kernels);
  ~Kernels();
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;

  // `out`: ECHOLINE_FLOAT32, ECHOLINE_FLOAT16 or ECHOLINE_BFLOAT16. INVALID_ARGUMENT, with the
  // sizes, if no kernel can do it. An empty batch launches nothing.
  Error normalize(const NormalizeParams& params, echoline_dtype out, Layout layout,
                  StreamHandle stream) const;
  Error flip(const FlipParams& params, StreamHandle stream) const;
  Error pad(const PadParams& params, StreamHandle stream) const;

 private:
  // Six to normalise (dtype by layout), flip, pad.
  static constexpr std::size_t kCount = 8;

  explicit Kernels(const DriverTable& driver) : driver_(driver) {}

  // Launches a kernel for `units` units of work in each of `rows` rows; `sizes` is for errors.
  Error launch(std::size_t kernel, const void* params, std::uint64_t units, std::uint32_t rows,
               const std::string& sizes, StreamHandle stream) const;

  const DriverTable& driver_;
  ModuleHandle module_ = nullptr;
  std::array<FunctionHandle, kCount> functions_{};
};

}  // namespace echoline::client::cuda
