// Any bytes as annotations of each kind: refused, or at most as many objects as allowed, each with
// a name and a box whose corners are in order. Outlines are refused, or have only pixels of the
// picture.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "decode/annotations.h"
#include "decode/outline_pixels.h"

namespace {

using echoline::decode::Annotations;

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

void check_pixels(const Annotations& found) {
  static echoline::decode::OutlineScratch scratch;
  constexpr echoline::decode::ImageSize kSize{30, 40};
  std::uint64_t budget = 100'000;
  for (std::size_t i = 0; i < found.objects.size(); ++i) {
    check_range(found.objects[i].points, found.numbers.size());
    if (found.objects[i].outline.kind == echoline::decode::Outline::Kind::kShares) {
      check_bounds(found, found.objects[i]);
    }
    if (!echoline::decode::outline_pixels(found, i, kSize, budget, scratch).ok()) continue;
    for (const echoline::decode::PixelRun& run : scratch.runs) {
      check_range({run.begin, run.end}, kSize.pixels());
    }
  }
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
  return 0;
}
