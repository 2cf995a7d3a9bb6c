#include "decode/coco_shapes.h"

namespace echoline::decode {

void CocoShapes::begin(std::string_view key, bool list) {
  reading_ = Reading::kNothing;
  if (key == "keypoints" && list) {
    reading_ = Reading::kPoints;
    out_.objects.back().points = {out_.numbers.size(), out_.numbers.size()};
  } else if (key == "segmentation") {
    reading_ = list ? Reading::kPolygons : Reading::kRuns;
    outline() = {};
    if (!list) return;
    outline().kind = Outline::Kind::kPolygons;
    outline().range = {out_.polygons.size(), out_.polygons.size()};
  }
  key_.clear();
  sizes_ = 0;
}

void CocoShapes::refuse() {
  if (reading_ == Reading::kPoints) {
    out_.objects.back().points = {};
  } else {
    outline().kind = Outline::Kind::kOther;
  }
  reading_ = Reading::kNothing;
}

void CocoShapes::deeper(std::size_t level, bool list) {
  const bool fits = level == 2 && list;
  if (fits && reading_ == Reading::kPolygons) {
    out_.polygons.push_back({out_.numbers.size(), out_.numbers.size()});
    outline().range.end = out_.polygons.size();
  } else if (fits && reading_ == Reading::kRuns && key_ == "counts") {
    outline().kind = Outline::Kind::kRuns;
    outline().range = {out_.numbers.size(), out_.numbers.size()};
  } else if (fits && reading_ == Reading::kRuns && key_ == "size") {
    sizes_ = 0;
  } else {
    refuse();
  }
}

void CocoShapes::key(std::size_t level, std::string_view name) {
  if (level == 1 && reading_ == Reading::kRuns) key_ = name;
}

void CocoShapes::number(std::size_t level, double value) {
  if (reading_ == Reading::kRuns && level == 2 && key_ == "size" && sizes_ < 2) {
    outline().size[sizes_++] = value;
    return;
  }
  Range* list = nullptr;
  if (reading_ == Reading::kPoints && level == 1) list = &out_.objects.back().points;
  if (reading_ == Reading::kPolygons && level == 2) list = &out_.polygons.back();
  if (reading_ == Reading::kRuns && level == 2 && key_ == "counts") list = &outline().range;
  if (list == nullptr) return refuse();
  out_.numbers.push_back(value);
  list->end = out_.numbers.size();
}

void CocoShapes::other(std::size_t level, std::string_view text) {
  if (reading_ != Reading::kRuns || level != 1 || key_ != "counts" || text.empty()) return refuse();
  outline().kind = Outline::Kind::kText;
  outline().range = out_.add_text(text);
}

void CocoShapes::end() {
  if (reading_ == Reading::kRuns && (outline().kind == Outline::Kind::kNone || sizes_ != 2))
    refuse();
  reading_ = Reading::kNothing;
}

}  // namespace echoline::decode
