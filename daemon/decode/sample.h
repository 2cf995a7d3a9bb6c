// A decoded sample: arrays of any element type and rank, and their types.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "decode/image_reader.h"
#include "echoline/shm/dtype.h"

namespace echoline::decode {

inline constexpr std::size_t kRankMax = 6;

struct Shape {
  std::array<std::uint32_t, kRankMax> sizes{};
  std::uint32_t rank = 0;

  bool operator==(const Shape&) const = default;
  std::span<const std::uint32_t> span() const { return {sizes.data(), rank}; }
  std::uint64_t elements() const {
    std::uint64_t product = 1;
    for (const std::uint32_t size : span()) product *= size;
    return product;
  }
};

// The type of a field, as far as it is known without reading a record. A field without a fixed
// shape must get one from a later step (or the first record), unless it is ragged.
struct FieldType {
  std::string name;
  shm::DType dtype = shm::kUint8;
  bool fixed = false;      // `shape` holds for every sample
  bool ragged = false;     // the first size is the maximum; a sample has any number up to it
  bool image = false;      // uint8 [height, width, channels]
  std::uint32_t rate = 0;  // of audio, float32 [samples]: samples per second; 0: no audio
  Shape shape;
  // The name of the field that this one belongs to, if any: boxes [n, 4] and masks to an image,
  // with which they move; any other ragged field to boxes, with one element for each.
  std::string of{};
  bool mask = false;           // class ids, uint8 or uint16 [height, width]
  std::uint16_t ignore = 255;  // of a mask: the id of pixels that a step adds
  bool points = false;         // key points, ragged float32 [n, points, 3]
  // Of key points: those that exchange places in a mirrored picture, two by two.
  std::vector<std::uint32_t> pairs{};
  // Of masks of single objects, which are runs of pixels up to the rows of a batch (object_runs.h):
  // the largest number of objects; 0: others.
  std::uint32_t objects_max = 0;
  ImageSize objects_size{};  // their height and width, where these are known; else 0
  // Of one of several crops of a picture: the name of those that a step can change together, and
  // its number, by which its draws differ from theirs.
  std::string crops{};
  std::uint8_t crop = 0;

  bool operator==(const FieldType&) const = default;

  // Bytes of one element of the first dimension, which is what a ragged field has any number of.
  std::uint64_t inner_bytes() const {
    std::uint64_t product = shm::dtype_bytes(dtype);
    for (std::uint32_t i = 1; i < shape.rank; ++i) product *= shape.sizes[i];
    return product;
  }
  // float32 [n, 4]
  bool may_be_boxes() const {
    return ragged && dtype == shm::kFloat32 && shape.rank == 2 && shape.sizes[1] == 4;
  }
};

// Whether a sample's array of this field can have the shape.
bool fits(const FieldType& type, const Shape& shape);

// One array of one sample, row-major.
struct Tensor {
  shm::DType dtype = shm::kUint8;
  Shape shape;
  Buffer bytes;
  // Of an image: `bytes` has only these pixels of it, and `shape` is that of the whole picture.
  std::optional<Region> part = std::nullopt;
  // If it is by more than 1, `part` is set and counts pixels of the reduced picture.
  Reduction reduction = {};
  // Elements that a record or a cache has as they are, or that a step has written to `destination`:
  // `bytes` is not used then. They are valid only as long as the bytes of the record (with its
  // record::Fields), the cache or the row are.
  std::optional<std::span<const std::byte>> borrowed = std::nullopt;
  // Of a result that a step is about to make: the row of the batch to which its bytes will be
  // copied unchanged. The step may write them there itself, and borrow them. Empty: there is no
  // such row, or it is not known yet.
  std::span<std::byte> destination = {};

  std::span<const std::byte> content() const { return borrowed ? *borrowed : bytes.span(); }
  // Makes this a view of a whole tensor, which must outlive it.
  void borrow(const Tensor& from) {
    dtype = from.dtype;
    shape = from.shape;
    part.reset();
    reduction = {};
    borrowed = from.content();
  }
};

// The tensors of one sample, in the order of the stream's fields. Its buffers are reused from
// sample to sample.
struct Sample {
  std::vector<Tensor> tensors;
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Tensor& tensor : tensors) sum += tensor.content().size();
    return sum;
  }
};

}  // namespace echoline::decode
