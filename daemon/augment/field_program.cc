#include "augment/field_program.h"

#include <algorithm>
#include <utility>

namespace echoline::augment {

Status FieldProgram::check_next(const Op& op) const {
  const decode::FieldType before = output();
  if (!before.fixed) return {};
  return op.size_after({before.shape.sizes[0], before.shape.sizes[1]}).status();
}

Status FieldProgram::append_crop(std::unique_ptr<Crop> crop) {
  ECHOLINE_TRY(check_next(*crop));
  if (!instructions.empty()) instructions.back().op->fuse_crop(crop);
  if (crop != nullptr) instructions.push_back({.op = std::move(crop), .context = {}});
  return {};
}

Status FieldProgram::append(std::unique_ptr<Op> op) {
  ECHOLINE_TRY(check_next(*op));
  instructions.push_back({.op = std::move(op), .context = {}});
  return {};
}

bool FieldProgram::fuse_flip(std::uint8_t number, double probability) {
  return !instructions.empty() && instructions.back().op->fuse_flip(number, probability);
}

// Only the first operation is asked: later ones have a picture that was already cut or changed.
// Op::part may only be asked for a size that the steps accept. For another one the whole picture is
// decoded, and run() reports the step's error.
decode::Part FieldProgram::part(const UseKey& use, const ImageSize& size) const {
  const UseKey key = key_of(use);
  const Box whole = decode::whole_picture(size);
  if (instructions.empty() || !size_after(size).ok()) return {whole};
  const Op& first = *instructions.front().op;
  return {first.part(key, size).value_or(whole), first.reduction_max(key, size)};
}

bool FieldProgram::moves_points() const {
  return std::any_of(instructions.begin(), instructions.end(),
                     [](const Instruction& instruction) { return instruction.op->moves_points(); });
}

void FieldProgram::move(const UseKey& use, ImageSize size, Mover& mover) const {
  const UseKey key = key_of(use);
  for (const Instruction& instruction : instructions) {
    instruction.op->move(key, size, mover);
    size = instruction.op->size_after(size).value();
  }
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

std::optional<ImageSize> FieldProgram::known_size() const {
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
  return size;
}

decode::FieldType FieldProgram::output() const {
  decode::FieldType type = input;
  if (!changes_pixels()) return type;
  const std::optional<ImageSize> size = known_size();
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
