// Which field belongs to which: boxes to an image, labels to boxes.
#pragma once

#include <cstddef>
#include <memory>
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

class Relations {
 public:
  Relations() = default;
  // Finds the relations and sets `of` of the types, which have the order of `fields`.
  // kInvalidArgument says which `of` is missing or not possible.
  static Result<Relations> find(const std::vector<RelatedField>& fields,
                                std::vector<FieldType>& types);

  // Converts boxes of a decoded sample to pixels. kInvalidArgument, with the field's name: a box
  // outside of its picture or with reversed corners, or another number of labels than of boxes.
  Status apply(const std::vector<FieldType>& types, Sample& sample) const;

 private:
  struct Pair {
    std::size_t field = 0;
    std::size_t of = 0;
    const Field* kind = nullptr;  // of `field`
  };

  std::vector<Pair> boxes_;   // of images
  std::vector<Pair> others_;  // of boxes
};

}  // namespace echoline::decode
