// The augmentation steps of a pipeline as instructions per field, checked against the fields'
// types.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "augment/normalizer.h"
#include "augment/op.h"
#include "decode/sample.h"

namespace echoline::v1 {
class Stream;
}

namespace echoline::augment {

struct Instruction {
  std::unique_ptr<Op> op;
  std::string context;  // of its errors: the step
  bool in_row = false;  // new pixels go straight into the row
};

// What happens to one field. Without instructions and normalizer it is copied as it is.
struct FieldProgram {
  decode::FieldType input;
  std::vector<Instruction> instructions;
  std::optional<Normalizer> normalizer;

  bool touched() const { return !instructions.empty() || normalizer.has_value(); }
  // Type of what comes out as far as it is known beforehand.
  decode::FieldType output() const;
  // The image that comes out of one of this size; an error where a step cannot be done.
  Result<ImageSize> size_after(ImageSize size) const;
  decode::Shape shape_of(const ImageSize& size) const;
};

// One program a field, in the order of `inputs`.
Result<std::vector<FieldProgram>> compile_program(const v1::Stream& stream,
                                                  const std::vector<decode::FieldType>& inputs);

}  // namespace echoline::augment
