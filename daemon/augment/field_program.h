// What the augmentation steps do to one field: a list of operations, then at most one conversion.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "augment/crop.h"
#include "augment/normalizer.h"
#include "augment/op.h"
#include "decode/field.h"
#include "decode/sample.h"

namespace echoline::augment {

struct Instruction {
  std::unique_ptr<Op> op;
  std::string context;  // the beginning of its error messages: field and step
  std::string step{};   // for times: step and field
  bool in_row = false;  // writes new pixels directly to the row
};

// Built once by compile_program, then immutable: any thread may call the const methods.
struct FieldProgram {
  decode::FieldType input;
  std::vector<Instruction> instructions;
  std::optional<Normalizer> normalizer;   // the last step, if there is one
  std::string normalize_step, copy_step;  // for times

  // Appends a step's operation; an error if the step can't work on any sample of this field.
  Status append(std::unique_ptr<Op> op);
  // The same for a crop, which the previous operation does too, if it can: a resize then makes only
  // the pixels of the crop.
  Status append_crop(std::unique_ptr<Crop> crop);
  // Lets the previous operation do this flip too, if it can: a resize flips at no extra cost.
  // Returns false if it can't.
  bool fuse_flip(std::uint8_t number, double probability);
  // The key of the draws for this field.
  UseKey key_of(UseKey key) const {
    key.crop = input.crop;
    return key;
  }
  // The pixels of a picture of this size that the operations read for this use.
  decode::Part part(const UseKey& key, const ImageSize& size) const;
  // Whether an operation moves pixels, so that what belongs to the picture must follow.
  bool moves_points() const;
  // Moves what belongs to a picture of this size, for which size_after gives no error.
  void move(const UseKey& key, ImageSize size, Mover& mover) const;
  // Marks the operations that can write their pixels directly to the row.
  void mark_rows();

  // False: the field is copied unchanged.
  bool changes_pixels() const { return !instructions.empty() || normalizer.has_value(); }
  // The type of the result, as far as it is known without a sample.
  decode::FieldType output() const;
  // The image size of the result, as far as it is known without a sample.
  std::optional<ImageSize> known_size() const;
  // The image size that results from an input of `size`; an error where a step can't be done.
  Result<ImageSize> size_after(ImageSize size) const;
  // The shape of a result with this image size.
  decode::Shape shape_of(const ImageSize& size) const;

 private:
  Status check_next(const Op& op) const;
};

}  // namespace echoline::augment
