// Key points of COCO: `as: coco_keypoints`, float32 [n, points, 3].
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <set>

#include "decode/annotation_field.h"
#include "echoline/v1/config.pb.h"

namespace echoline::decode {
namespace {

constexpr std::uint32_t kPointsDefault = 17;  // of COCO's persons

class CocoPointsField final : public AnnotationField {
 public:
  using AnnotationField::AnnotationField;

 private:
  Status write(const Annotations& found, const Annotations::Object& object,
               std::byte* out) const override {
    const std::size_t number = static_cast<std::size_t>(&object - found.objects.data());
    const std::uint32_t points = shape().sizes[1];
    if (object.points.size() != std::size_t{points} * 3) {
      return {Code::kInvalidArgument,
              fmt::format("annotation {} has {} numbers as keypoints; {} points have {}", number,
                          object.points.size(), points, points * 3)};
    }
    for (std::size_t i = object.points.begin; i < object.points.end; ++i, out += sizeof(float)) {
      const double value = found.numbers[i];
      if (std::fabs(value) > kPlaceMax) {
        return {Code::kInvalidArgument,
                fmt::format("annotation {} has a key point with the number {}", number, value)};
      }
      const auto rounded = static_cast<float>(value);
      std::memcpy(out, &rounded, sizeof rounded);
    }
    return {};
  }
};

}  // namespace

Status set_pairs(const v1::DecodeField& entry, FieldType& type) {
  std::set<std::uint32_t> seen;
  for (const std::uint32_t point : entry.pairs()) {
    if (point < type.shape.sizes[1] && seen.insert(point).second) continue;
    return {Code::kInvalidArgument,
            fmt::format("pairs has {}; each of the points 0 to {} is in at most one pair", point,
                        type.shape.sizes[1] - 1)};
  }
  if (entry.pairs_size() % 2 != 0) {
    return {Code::kInvalidArgument, "pairs has a point without another one"};
  }
  type.pairs = {entry.pairs().begin(), entry.pairs().end()};
  return {};
}

FieldResult make_coco_points_field(const v1::DecodeField& entry) {
  ECHOLINE_ASSIGN(FieldType type, objects_type(entry, shm::kFloat32));
  const std::uint32_t points = entry.points() == 0 ? kPointsDefault : entry.points();
  type.shape = {{type.shape.sizes[0], points, 3}, 3};
  type.points = true;
  ECHOLINE_TRY(set_pairs(entry, type));
  return std::unique_ptr<Field>(new CocoPointsField(read_coco, std::move(type)));
}

}  // namespace echoline::decode
