// Converts bytes to normalised numbers. It is the last step of an image, and writes to the row of
// the batch.
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

// Immutable; any thread may call it. It looks values up in one table of 256 entries per channel.
class Normalizer {
 public:
  // kInvalidArgument names the setting and the values that are allowed.
  static Result<Normalizer> compile(const v1::Normalize& step, std::uint32_t channels);

  shm::DType dtype() const { return dtype_; }
  decode::Shape shape(const ImageSize& size) const;
  // `out` has room for the elements of `shape`.
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
