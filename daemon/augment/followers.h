// What follows the pictures of image programs before rows are written: boxes and what belongs to
// them, and masks of objects.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "augment/box_group.h"
#include "augment/field_program.h"
#include "augment/object_mover.h"
#include "base/status.h"
#include "decode/sample.h"
#include "echoline/shm/sample_random.h"

namespace echoline::augment {

class Followers {
 public:
  // The reusable state of one thread.
  struct Scratch {
    std::vector<decode::Tensor> moved;  // by field; those of other fields are not used
    ChangedBoxes boxes;
    ObjectScratch objects;
  };

  explicit Followers(std::size_t fields) : image_(fields) {}

  // Lets what belongs to the image field `image` follow it. `size`: of the result, if it is known.
  void add(std::size_t image, const std::optional<ImageSize>& size,
           std::vector<decode::FieldType>& types);
  // The image that a field follows.
  std::optional<std::size_t> image_of(std::size_t field) const { return image_[field]; }
  // Fills scratch.moved, by the moves of these programs.
  Status move(std::span<const FieldProgram> programs, const decode::Sample& in, const UseKey& key,
              Scratch& scratch) const;

 private:
  struct OfImage {
    std::size_t image = 0;
    std::vector<BoxGroup> groups;
    std::vector<std::size_t> objects;  // masks of objects without boxes
  };

  std::vector<OfImage> images_;
  std::vector<std::optional<std::size_t>> image_;  // by field
};

}  // namespace echoline::augment
