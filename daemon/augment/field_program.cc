#include "augment/field_program.h"

#include <utility>

namespace echoline::augment {

Status FieldProgram::append(std::unique_ptr<Op> op) {
  const decode::FieldType before = output();
  if (before.fixed) {
    ECHOLINE_TRY(op->size_after({before.shape.sizes[0], before.shape.sizes[1]}).status());
  }
  instructions.push_back({.op = std::move(op), .context = {}});
  return {};
}

bool FieldProgram::fuse_flip(std::uint8_t number, double probability) {
  return !instructions.empty() && instructions.back().op->fuse_flip(number, probability);
}

void FieldProgram::mark_rows() {
  // From the last operation back: pixels may go to the row as long as no later operation moves
  // them. A normalizer writes the row itself, with another element type.
  bool stays = !normalizer;
  for (auto at = instructions.rbegin(); at != instructions.rend(); ++at) {
    at->in_row = stays;
    stays = stays && at->op->keeps_place();
  }
}

decode::FieldType FieldProgram::output() const {
  decode::FieldType type = input;
  if (!changes_pixels()) return type;
  std::optional<ImageSize> size;
  if (input.fixed) size = ImageSize{input.shape.sizes[0], input.shape.sizes[1]};
  for (const Instruction& instruction : instructions) {
    if (const auto fixed = instruction.op->fixed_size()) {
      size = fixed;
    } else if (size) {
      const Result<ImageSize> after = instruction.op->size_after(*size);
      size = after.ok() ? std::optional(after.value()) : std::nullopt;
    }
  }
  type.fixed = size.has_value();
  type.shape = shape_of(size.value_or(ImageSize{}));
  type.image = !normalizer;
  if (normalizer) type.dtype = normalizer->dtype();
  return type;
}

Result<ImageSize> FieldProgram::size_after(ImageSize size) const {
  for (const Instruction& instruction : instructions) {
    Result<ImageSize> after = instruction.op->size_after(size);
    if (!after.ok()) return after.status().with_context(instruction.context);
    size = after.value();
  }
  return size;
}

decode::Shape FieldProgram::shape_of(const ImageSize& size) const {
  if (normalizer) return normalizer->shape(size);
  return {{size.height, size.width, input.shape.sizes[2]}, 3};
}

}  // namespace echoline::augment
