// Reads the keys `segmentation` and `keypoints` of one annotation of COCO.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "decode/annotations.h"

namespace echoline::decode {

// Gets the events of the JSON between `begin` and `end` of a value of one of the keys. Levels count
// from the value: 1 in it, 2 in a list in it. Other forms than COCO's become Outline::kOther, and
// leave key points empty. One thread.
class CocoShapes {
 public:
  explicit CocoShapes(Annotations& out) : out_(out) {}

  // A value of the annotation's key `key` begins that is a list or an object. Another key: it is
  // not read.
  void begin(std::string_view key, bool list);
  bool reading() const { return reading_ != Reading::kNothing; }
  // A list or object in the value begins, which is now at `level`.
  void deeper(std::size_t level, bool list);
  void key(std::size_t level, std::string_view name);
  void number(std::size_t level, double value);
  // A value that is no number; empty for null.
  void other(std::size_t level, std::string_view text);
  // The value ends.
  void end();

 private:
  enum class Reading : std::uint8_t { kNothing, kPolygons, kRuns, kPoints };

  Outline& outline() { return out_.objects.back().outline; }
  void refuse();

  Annotations& out_;
  Reading reading_ = Reading::kNothing;
  std::string key_;  // of an object with runs
  std::size_t sizes_ = 0;
};

}  // namespace echoline::decode
