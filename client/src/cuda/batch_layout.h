// The layout of a batch in device memory, and what the device does with each field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cuda/kernel_params.h"
#include "echoline/echoline_cuda.h"
#include "mapped_ring/ring_view.h"
#include "system/error.h"

namespace echoline::client::cuda {

// What the trainer asks for one field; see echoline_cuda_field.
struct FieldOptions {
  std::string name;
  std::uint32_t dtype = 0;
  std::uint32_t layout = ECHOLINE_LAYOUT_AS_IS;
  bool flip = false;
  bool padded = false;
  double fill = 0;
  float mean[kChannelsMax] = {};
  float std[kChannelsMax] = {};
};

enum class Transform : std::uint8_t { kNone, kNormalize, kFlip, kPad };

// What the device does with one field, and where.
struct FieldPlan {
  std::string name;
  Transform transform = Transform::kNone;
  bool flip = false;
  bool ragged = false;
  std::uint32_t dtype = 0;           // of the result
  std::vector<std::uint64_t> sizes;  // of one row of the result; ragged: without the first
  std::uint32_t height = 0, width = 0, channels = 0;  // of images
  std::uint32_t element_bytes = 0;                    // of the input
  std::uint64_t input_row_bytes = 0;                  // ragged: the most
  std::uint64_t row_bytes = 0;                        // of the result; ragged: the most
  std::size_t input = 0;                              // offset of the copied bytes
  std::size_t result = 0;   // offset of what the trainer sees; without a kernel: input
  std::size_t offsets = 0;  // ragged: offset of rows + 1 uint64
  bool channels_first = false;
  float scale[kChannelsMax] = {};
  float shift[kChannelsMax] = {};
  std::uint64_t fill = 0;  // the element's bits
};

// The same for all batches of a loader. The CPU writes the first meta_bytes for each batch: offsets
// of ragged fields, then for each use one byte a row, 1 if the row is mirrored.
struct BatchLayout {
  std::vector<FieldPlan> fields;  // in the order of the stream
  std::uint32_t rows_max = 0;
  std::size_t flips = 0;  // offset
  std::size_t meta_bytes = 0;
  std::size_t bytes = 0;
  bool flips_any = false;
  bool needs_kernels = false;

  // `rows_max`: the most rows of this rank in a batch. `uses`: of each batch, by device echo.
  // INVALID_ARGUMENT, with the field's name, if the options do not fit.
  static Error make(const RingView& ring, std::uint32_t rows_max, std::uint32_t uses,
                    const std::vector<FieldOptions>& options, BatchLayout& layout);
};

}  // namespace echoline::client::cuda
