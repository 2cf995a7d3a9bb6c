// Converts bytes to normalised numbers. It is the last step of an image, and writes to the row of
// the batch.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "augment/normalize_loops.h"
#include "augment/view.h"
#include "base/status.h"
#include "decode/sample.h"

namespace echoline::v1 {
class Normalize;
}

namespace echoline::augment {

// Immutable; any thread may call it. The results are those of one table of 256 entries per channel.
// It looks values up there, or computes them with vectors, where that is sure to give the same.
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
  template <typename T>
  void look_up(const View& view, const std::vector<std::array<T, 256>>& tables,
               std::byte* out) const;
  template <typename T>
  void compute(const View& view, std::byte* out) const;
  void find_all_steps(const std::vector<float>& means, const std::vector<float>& deviations);

  shm::DType dtype_ = shm::kFloat32;
  bool planar_ = true;  // [channels, height, width]
  std::vector<NormalizedValues> floats_;
  std::vector<std::array<std::uint16_t, 256>> halves_;
  // For each channel if planar, else for all of them; none if the tables must be used.
  std::vector<NormalizeSteps> steps_;
};

}  // namespace echoline::augment
