// The boxes of an image, and the fields that have one element for each box: labels, key points,
// masks of objects.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "augment/box_mover.h"
#include "augment/object_mover.h"
#include "augment/point_mover.h"
#include "base/status.h"
#include "decode/sample.h"

namespace echoline::augment {

// Numbers of fields.
struct BoxGroup {
  // Key points, which move with their boxes.
  struct Points {
    std::size_t field = 0;
    std::size_t each = 0;  // points of an object
    std::vector<std::uint32_t> pairs;
  };

  std::size_t boxes = 0;
  std::vector<std::size_t> others;  // labels and such
  std::vector<Points> points;
  std::vector<std::size_t> masks;

  // Calls `each`(number) for all fields.
  template <typename Each>
  void for_each(const Each& each) const {
    each(boxes);
    for (const std::size_t other : others) each(other);
    for (const Points& one : points) each(one.field);
    for (const std::size_t mask : masks) each(mask);
  }
};

// The group of the boxes `boxes`, by FieldType::of.
BoxGroup group_of(const std::vector<decode::FieldType>& fields, std::size_t boxes);
// All groups of boxes that belong to the image `image` and have any number of boxes.
std::vector<BoxGroup> groups_of_image(const std::vector<decode::FieldType>& fields,
                                      const std::string& image);

// kInvalidArgument: the boxes `boxes`, or a field that belongs to them, have one length since pad.
// Such a field can lose no element, so boxes and labels would no longer fit together.
Status check_removable(const std::vector<decode::FieldType>& fields, std::size_t boxes);
// The same for all boxes of an image whose pixels a step moves.
Status check_followers(const std::vector<decode::FieldType>& fields, const std::string& image);

// A copy of a sample's boxes that a step may change.
class ChangedBoxes {
 public:
  // Copies the boxes. kInvalidArgument: another field of the group has no element for each.
  Status start(const decode::Sample& in, const BoxGroup& group);
  std::span<float> corners() { return corners_; }
  // Lets `moves`(Mover&) move the boxes in a picture of this size, then each field of key points,
  // and each of masks. An error: see move_objects.
  template <typename Moves>
  Status move(const BoxGroup& group, const decode::ImageSize& picture, const Moves& moves) {
    BoxMover boxes(corners_);
    moves(boxes);
    for (std::size_t i = 0; i < group.points.size(); ++i) {
      PointMover points = mover_of(group, i);
      moves(points);
    }
    for (decode::ObjectRuns& masks : masks_) {
      ECHOLINE_TRY(move_objects(picture, moves, scratch_, masks));
    }
    return {};
  }
  // Hides key points outside of the picture, so that no padding takes them in.
  void hide_points(const BoxGroup& group, const decode::ImageSize& size);
  // Clips the boxes to the picture, and removes those of which nothing is left.
  void clip(const BoxGroup& group, const decode::ImageSize& size);
  std::size_t count() const { return corners_.size() / 4; }
  std::span<const float, 4> box(std::size_t i) const {
    return std::span<const float, 4>(corners_.data() + 4 * i, 4);
  }
  // All boxes stay until this is called for one.
  void remove(std::size_t i) { removed_[i] = true; }
  void remove_empty();
  // Writes the boxes that stay, and the elements of the other fields that belong to them, to the
  // tensors of these numbers.
  void write(const decode::Sample& in, const BoxGroup& group, std::vector<decode::Tensor>& out);

 private:
  void keep_elements(const decode::Tensor& from, const std::byte* content,
                     decode::Tensor& to) const;
  void keep_objects(const decode::ObjectRuns& from, decode::Tensor& to);
  PointMover mover_of(const BoxGroup& group, std::size_t i) {
    return {points_[i], group.points[i].each, group.points[i].pairs};
  }

  std::vector<float> corners_;
  std::vector<std::vector<float>> points_;  // in the order of the group's
  std::vector<decode::ObjectRuns> masks_;   // the same
  std::vector<bool> removed_;
  ObjectScratch scratch_;
  decode::ObjectRuns kept_;
};

}  // namespace echoline::augment
