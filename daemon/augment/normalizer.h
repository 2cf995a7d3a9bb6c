// From bytes to normalised numbers: the last step of an image, written straight into the row.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "augment/view.h"
#include "base/status.h"
#include "decode/sample.h"

namespace echoline::v1 {
class Normalize;
}

namespace echoline::augment {

// Immutable; any thread may write with it. A table a channel: 256 values are all there are.
class Normalizer {
 public:
  // Errors (kInvalidArgument) name the key and what is allowed.
  static Result<Normalizer> compile(const v1::Normalize& step, std::uint32_t channels);

  shm::DType dtype() const { return dtype_; }
  decode::Shape shape(const ImageSize& size) const;
  // `out` has the bytes of `shape`.
  void write(const View& view, std::byte* out) const;

 private:
  template <typename T>
  void write_as(const View& view, const std::vector<std::array<T, 256>>& tables,
                std::byte* out) const;

  shm::DType dtype_ = shm::kFloat32;
  bool planar_ = true;  // [channels, height, width]
  std::vector<std::array<float, 256>> floats_;
  std::vector<std::array<std::uint16_t, 256>> halves_;
};

}  // namespace echoline::augment
