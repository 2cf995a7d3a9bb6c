// The objects of one picture, as the file that describes it lists them: their boxes and classes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace echoline::decode {

// The largest coordinate in pixels: beyond it a float32 has no pixels any more.
inline constexpr double kPlaceMax = 10'000'000;

// Elements [begin, end) of a list.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const { return end - begin; }
};

// The pixels of an object as a file gives them, not checked yet.
struct Outline {
  enum class Kind : std::uint8_t {
    kNone,
    kBox,       // none: a line of YOLO with a box
    kPolygons,  // `range` of Annotations::polygons, in pixels
    kShares,    // the same, in shares of the picture's sides
    kRuns,      // `range` of Annotations::numbers
    kText,      // runs as text: `range` of Annotations::names
    kOther      // no segmentation
  };

  Kind kind = Kind::kNone;
  Range range;
  // Of runs: height and width.
  std::array<double, 2> size{};
};

// In the order of the file. Reused from record to record.
struct Annotations {
  struct Object {
    // left, top, right, bottom in the units of the file; nothing is changed or clipped
    std::array<double, 4> box{};
    std::size_t name_begin = 0;  // of its class, in `names`
    std::size_t name_end = 0;
    bool flag = false;  // difficult, or a crowd
    Outline outline;
    Range points;  // of COCO: x, y and visibility of each key point, in `numbers`
  };

  std::vector<Object> objects;
  std::string names;            // of all objects, one after the other, and runs as text
  std::vector<double> numbers;  // of outlines and key points
  std::vector<Range> polygons;  // x and y of each corner, in `numbers`

  void clear() {
    objects.clear();
    names.clear();
    numbers.clear();
    polygons.clear();
  }
  std::string_view name(const Object& object) const {
    return std::string_view(names).substr(object.name_begin, object.name_end - object.name_begin);
  }
  Range add_text(std::string_view text) {
    const std::size_t begin = names.size();
    names += text;
    return {begin, names.size()};
  }
  void set_name(Object& object, std::string_view name) {
    object.name_begin = names.size();
    names += name;
    object.name_end = names.size();
  }
};

// Fills `out`. An error means that the record is bad: kDataLoss for a file that is no such file,
// kInvalidArgument for an object without a box or class, or with a box whose corners are no numbers
// or reversed, kResourceExhausted for more than `objects_max` objects. Time and memory are linear
// in the bytes of the file, and reading ends at the first object that is too many.
using ReadAnnotations = Status (*)(std::span<const std::byte> file, std::size_t objects_max,
                                   Annotations& out);

// Pascal VOC: XML with <object>, <name>, <bndbox>. Corners are those of the file, which usually
// count from 1. The flag is <difficult>.
Status read_voc(std::span<const std::byte> file, std::size_t objects_max, Annotations& out);
// COCO: JSON, the list of one picture's annotations, or an object with this list as "annotations".
// The name is category_id, or category_name where there is none; the flag is iscrowd. What is wrong
// with a segmentation or with key points is no error here: only who needs them checks them.
Status read_coco(std::span<const std::byte> file, std::size_t objects_max, Annotations& out);
// YOLO: text, a line for each object, with shares of the picture's sides: a box, `class centre_x
// centre_y width height`, or an outline, `class x1 y1 x2 y2 x3 y3 ...`, whose bounds are the box.
Status read_yolo(std::span<const std::byte> file, std::size_t objects_max, Annotations& out);

// Errors that the readers share; `object` counts from 0.
Status too_many_objects(std::size_t objects_max);
// An error unless all four are finite and the corners are in order.
Status check_box(const std::array<double, 4>& box, std::size_t object);

}  // namespace echoline::decode
