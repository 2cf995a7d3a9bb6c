// Any bytes as annotations of each kind: refused, or at most as many objects as allowed, each with
// a name and a box whose corners are in order. Outlines are refused, or have only pixels of the
// picture, and as masks of objects the same pixels after load and store. Any bytes as such masks
// of another host: refused, or drawn within their array.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "decode/annotations.h"
#include "decode/object_runs.h"
#include "decode/outline_pixels.h"

namespace {

using echoline::decode::Annotations;
using echoline::decode::ObjectRuns;
using echoline::decode::Tensor;

constexpr std::size_t kObjectsMax = 20;

void check(const Annotations& found) {
  if (found.objects.size() > kObjectsMax) std::abort();
  for (const Annotations::Object& object : found.objects) {
    if (object.name_begin > object.name_end || object.name_end > found.names.size()) std::abort();
    if (found.name(object).empty()) std::abort();
    if (!(object.box[0] <= object.box[2] && object.box[1] <= object.box[3])) std::abort();
  }
}

void check_range(const echoline::decode::Range& range, std::size_t size) {
  if (range.begin > range.end || range.end > size) std::abort();
}

// An outline of YOLO has a corner on each side of its box.
void check_bounds(const Annotations& found, const Annotations::Object& object) {
  check_range(object.outline.range, found.polygons.size());
  const echoline::decode::Range& corners = found.polygons[object.outline.range.begin];
  check_range(corners, found.numbers.size());
  for (std::size_t side = 0; side < 4; ++side) {
    bool touched = false;
    for (std::size_t i = corners.begin + side % 2; i < corners.end; i += 2) {
      touched = touched || found.numbers[i] == object.box[side];
    }
    if (!touched) std::abort();
  }
}

// The array's bytes are all written, and have each pixel of the runs.
void check_masks(const ObjectRuns& masks) {
  std::vector<std::byte> drawn(masks.bytes_drawn(), std::byte{7});
  draw(masks, drawn.data());
  std::uint64_t pixels = 0;
  for (const echoline::decode::ObjectRun& run : masks.runs) pixels += run.end - run.begin;
  std::uint64_t ones = 0;
  for (const std::byte pixel : drawn) {
    if (pixel > std::byte{1}) std::abort();
    ones += pixel == std::byte{1} ? 1 : 0;
  }
  if (ones != pixels) std::abort();
}

void check_any_masks(std::span<const std::byte> bytes) {
  static ObjectRuns masks;
  Tensor tensor;
  tensor.borrowed = bytes;
  if (!load(tensor, masks).ok()) return;
  if (masks.bytes_drawn() > 0 && masks.bytes_drawn() < 1'000'000) check_masks(masks);
}

void check_pixels(const Annotations& found) {
  static ObjectRuns masks, loaded;
  static echoline::decode::OutlineScratch scratch;
  constexpr echoline::decode::ImageSize kSize{30, 40};
  std::uint64_t budget = 100'000;
  masks.start(kSize, static_cast<std::uint32_t>(found.objects.size()));
  for (std::size_t i = 0; i < found.objects.size(); ++i) {
    check_range(found.objects[i].points, found.numbers.size());
    if (found.objects[i].outline.kind == echoline::decode::Outline::Kind::kShares) {
      check_bounds(found, found.objects[i]);
    }
    if (!echoline::decode::outline_pixels(found, i, kSize, budget, scratch).ok()) continue;
    for (const echoline::decode::PixelRun& run : scratch.runs) {
      check_range({run.begin, run.end}, kSize.pixels());
    }
    if (!add_object(static_cast<std::uint32_t>(i), scratch.runs, masks).ok()) std::abort();
  }
  Tensor tensor;
  store(masks, tensor);
  if (!load(tensor, loaded).ok() || loaded.runs != masks.runs) std::abort();
  check_masks(masks);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Annotations found;  // reused, as a worker does
  const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(data), size);
  for (const auto read :
       {echoline::decode::read_voc, echoline::decode::read_coco, echoline::decode::read_yolo}) {
    if (!read(file, kObjectsMax, found).ok()) continue;
    check(found);
    check_pixels(found);
  }
  check_any_masks(file);
  return 0;
}
