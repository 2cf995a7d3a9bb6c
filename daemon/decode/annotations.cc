#include "decode/annotations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace echoline::decode {

Status too_many_objects(std::size_t objects_max) {
  return {Code::kResourceExhausted,
          fmt::format("more than {} objects; max_objects allows more", objects_max)};
}

Status check_box(const std::array<double, 4>& box, std::size_t object) {
  for (const double corner : box) {
    // Written so that NaN is refused, too.
    if (!(std::fabs(corner) <= kPlaceMax)) {
      return {Code::kInvalidArgument,
              fmt::format("object {} has a box with the corner {}", object, corner)};
    }
  }
  if (box[0] <= box[2] && box[1] <= box[3]) return {};
  return {Code::kInvalidArgument, fmt::format("object {} has a box with reversed corners: [{}]",
                                              object, fmt::join(box, ", "))};
}

}  // namespace echoline::decode
