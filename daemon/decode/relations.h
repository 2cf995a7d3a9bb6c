// Which field belongs to which: boxes and masks to an image, labels and key points to boxes.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "decode/field.h"
#include "decode/sample.h"

namespace echoline::decode {

// A field of the decode step, as far as relations need it.
struct RelatedField {
  std::string name;
  std::string key;
  std::string of;  // the setting; empty: none
  const Field* field = nullptr;
};

// kInvalidArgument if a mask's size is not that of its picture. A step in Python may change one of
// them, so steps that move both ask again.
Status check_mask_size(const FieldType& type, const Tensor& mask, const Tensor& picture);
// The same for masks of objects.
Status check_objects_size(const ImageSize& own, const ImageSize& picture);

class Relations {
 public:
  Relations() = default;
  // Finds the relations and sets `of` of the types, which have the order of `fields`.
  // kInvalidArgument says which `of` is missing or not possible.
  static Result<Relations> find(const std::vector<RelatedField>& fields,
                                std::vector<FieldType>& types);

  // The size of the picture that a mask belongs to, which is decoded already.
  ImageSize picture_of(std::size_t mask, const Sample& sample) const;
  // Converts boxes of a decoded sample to pixels. kInvalidArgument, with the field's name: a box
  // outside of its picture or with reversed corners, a mask of another size than its picture, or
  // another number of labels than of boxes.
  Status apply(const std::vector<FieldType>& types, Sample& sample) const;

 private:
  struct Pair {
    std::size_t field = 0;
    std::size_t of = 0;
    const Field* kind = nullptr;  // of `field`
    bool has_image = false;       // `of` is one
  };

  std::optional<std::size_t> image_of(const Pair& objects) const;
  Status check_objects(const Pair& pair, const std::vector<FieldType>& types, Sample& sample) const;

  std::vector<Pair> boxes_;    // of images
  std::vector<Pair> masks_;    // of images
  std::vector<Pair> objects_;  // masks of objects: of boxes or images
  std::vector<Pair> others_;   // of boxes
};

}  // namespace echoline::decode
