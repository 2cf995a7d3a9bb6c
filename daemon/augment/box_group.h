// The boxes of an image, and the fields that have one element for each box.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "decode/sample.h"

namespace echoline::augment {

// Numbers of fields.
struct BoxGroup {
  std::size_t boxes = 0;
  std::vector<std::size_t> others;  // labels and such
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
  std::size_t count() const { return corners_.size() / 4; }
  std::span<const float, 4> box(std::size_t i) const {
    return std::span<const float, 4>(corners_.data() + 4 * i, 4);
  }
  // All boxes stay until this is called for one.
  void remove(std::size_t i) { removed_[i] = true; }
  void remove_empty();
  // Writes the boxes that stay, and the elements of the other fields that belong to them, to the
  // tensors of these numbers.
  void write(const decode::Sample& in, const BoxGroup& group,
             std::vector<decode::Tensor>& out) const;

 private:
  void keep_elements(const decode::Tensor& from, const std::byte* content,
                     decode::Tensor& to) const;

  std::vector<float> corners_;
  std::vector<bool> removed_;
};

}  // namespace echoline::augment
