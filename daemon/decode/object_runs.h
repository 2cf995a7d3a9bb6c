// Masks of single objects, from the decoder to the row of a batch: runs of pixels, so that the
// objects of a large picture take little memory. Only rows of batches have uint8 [n, height,
// width].
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "decode/outline_pixels.h"
#include "decode/sample.h"

namespace echoline::decode {

// Pixels of one object in one column: rows [begin, end).
struct ObjectRun {
  std::uint32_t object = 0;
  std::uint32_t column = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  auto operator<=>(const ObjectRun&) const = default;
};

// Of all objects of a record together.
inline constexpr std::uint32_t kObjectRunsMax = 1 << 20;

// The masks of a picture's objects. Reused from record to record.
struct ObjectRuns {
  ImageSize size;
  std::uint32_t objects = 0;
  std::vector<ObjectRun> runs;  // ascending; those of an object do not overlap

  void start(const ImageSize& picture, std::uint32_t count) {
    size = picture;
    objects = count;
    runs.clear();
  }
  // Leaves out all other objects.
  void keep_first(std::uint32_t count) {
    objects = std::min(objects, count);
    while (!runs.empty() && runs.back().object >= objects) runs.pop_back();
  }
  std::uint64_t bytes_drawn() const { return size.pixels() * objects; }
};

// A field of such masks, of the boxes `of`, for at most so many objects. Its tensors are uint32
// [1 + runs, 4]: the number of objects, height, width and 0, then the runs.
FieldType object_masks_type(std::uint32_t objects_max);

// Makes it the type of masks that are drawn, uint8 [n, height, width].
void make_drawn(FieldType& type);

// Adds the pixels of an object; changes `pixels`. kResourceExhausted: more than kObjectRunsMax.
Status add_object(std::uint32_t object, std::vector<PixelRun>& pixels, ObjectRuns& out);
// kResourceExhausted: more than kObjectRunsMax.
Status too_many_runs();
Status check_count(const ObjectRuns& masks);

void store(const ObjectRuns& masks, Tensor& out);
// kDataLoss: `tensor` is none of store(). Its bytes may come from another host.
Status load(const Tensor& tensor, ObjectRuns& out);
// The same without the runs.
Result<ObjectRuns> read_head(const Tensor& tensor);
// Changes the number of objects in a tensor of store().
void set_count(std::uint32_t objects, Tensor& tensor);

// Writes uint8 [objects, height, width]: 1 where the object is, else 0.
void draw(const ObjectRuns& masks, std::byte* out);

}  // namespace echoline::decode
