#include "augment/field_programs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "augment/sample_fields.h"
#include "base/check.h"
#include "base/step_times.h"

namespace echoline::augment {
namespace {

ImageSize image_size(const decode::Tensor& tensor) {
  return {tensor.shape.sizes[0], tensor.shape.sizes[1]};
}

// What the tensor has of its picture.
Box present_part(const decode::Tensor& tensor) {
  return tensor.part.value_or(decode::whole_picture(image_size(tensor)));
}

View view_of(const decode::Tensor& tensor) {
  const Box part = present_part(tensor);
  View view;
  view.data = reinterpret_cast<const std::uint8_t*>(tensor.content().data());
  view.size = {part.height, part.width};
  view.channels = tensor.shape.sizes[2];
  view.stride = view.row_bytes();
  return view;
}

Status check_ragged(const decode::FieldType& type, std::uint64_t bytes, std::size_t row_bytes) {
  if (bytes <= row_bytes) return {};
  return {Code::kInvalidArgument, fmt::format("field {} has {} bytes; a row of the batch has {}",
                                              type.name, bytes, row_bytes)};
}

// `type`: of drawn masks, whose size is unknown before fix_outputs.
Status check_drawn(const decode::FieldType& type, const ImageSize& size) {
  const ImageSize wanted{type.shape.sizes[1], type.shape.sizes[2]};
  if (wanted.pixels() == 0 || size == wanted) return {};
  return {Code::kInvalidArgument,
          fmt::format("field {} has masks {} high and {} wide where the stream's are {} high and "
                      "{} wide; a crop, or a resize to [height, width], gives all rows one shape",
                      type.name, size.height, size.width, wanted.height, wanted.width)};
}

decode::Shape mask_shape(const ImageSize& size) { return {{size.height, size.width}, 2}; }

}  // namespace

FieldPrograms::FieldPrograms(std::vector<FieldProgram> programs)
    : programs_(std::move(programs)), followers_(programs_.size()) {
  for (FieldProgram& program : programs_) {
    outputs_.push_back(program.output());
    program.copy_step = "copy " + program.input.name;
  }
  mask_image_.resize(programs_.size());
  for (std::size_t i = 0; i < programs_.size(); ++i) {
    if (!programs_[i].moves_points()) continue;
    add_masks_of(i);
    followers_.add(i, programs_[i].known_size(), outputs_);
  }
}

void FieldPrograms::draw_objects() {
  for (decode::FieldType& type : outputs_) {
    if (type.objects_max > 0) decode::make_drawn(type);
  }
}

void FieldPrograms::add_masks_of(std::size_t image) {
  const std::optional<ImageSize> size = programs_[image].known_size();
  for (const std::size_t mask : masks_of_image(outputs_, outputs_[image].name)) {
    mask_image_[mask] = image;
    outputs_[mask].fixed = size.has_value();
    outputs_[mask].shape = mask_shape(size.value_or(ImageSize{}));
  }
}

FieldPrograms::Scratch FieldPrograms::make_scratch() const {
  Scratch scratch;
  scratch.pictures.resize(programs_.size());
  scratch.followers.moved.resize(programs_.size());
  scratch.objects.resize(programs_.size());
  return scratch;
}

std::vector<decode::FieldType> FieldPrograms::outputs_for(const decode::Sample& sample) const {
  std::vector<decode::FieldType> types = outputs_;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i].fixed || (types[i].ragged && !is_drawn(i))) continue;
    const Result<decode::Shape> shape = shape_after(i, sample.tensors[i]);
    if (!shape.ok()) continue;  // the steps refuse this sample, so its shape stays unknown
    types[i].shape = shape.value();
    types[i].fixed = !types[i].ragged;
  }
  return types;
}

Result<decode::Shape> FieldPrograms::shape_after(std::size_t field,
                                                 const decode::Tensor& tensor) const {
  if (is_drawn(field)) {
    ECHOLINE_ASSIGN(const decode::ObjectRuns masks, decode::read_head(tensor));
    const FieldProgram& moves = programs_[followers_.image_of(field).value_or(field)];
    ECHOLINE_ASSIGN(const ImageSize size, moves.size_after(masks.size));
    return decode::Shape{{outputs_[field].shape.sizes[0], size.height, size.width}, 3};
  }
  const FieldProgram& program = programs_[mask_image_[field].value_or(field)];
  if (!changes(field)) return tensor.shape;
  ECHOLINE_ASSIGN(const ImageSize size,
                  program.size_after({tensor.shape.sizes[0], tensor.shape.sizes[1]}));
  return mask_image_[field] ? mask_shape(size) : program.shape_of(size);
}

// Before fix_outputs, the shape may be unknown; then only the number of bytes is checked.
Status FieldPrograms::check_shape(std::size_t field, const decode::Shape& shape,
                                  std::size_t row_bytes) const {
  const decode::FieldType& type = outputs_[field];
  if (type.fixed && shape != type.shape) {
    return {
        Code::kInvalidArgument,
        fmt::format("field {} has the shape [{}] where the stream's is [{}]; a crop, or a resize "
                    "to [height, width], gives all rows one shape",
                    type.name, fmt::join(shape.span(), ", "), fmt::join(type.shape.span(), ", "))};
  }
  const std::uint64_t bytes = shape.elements() * shm::dtype_bytes(type.dtype);
  if (bytes == row_bytes) return {};
  return {Code::kInvalidArgument,
          fmt::format("field {} has the shape [{}], {} bytes; a row of the batch has {}", type.name,
                      fmt::join(shape.span(), ", "), bytes, row_bytes)};
}

bool FieldPrograms::changes_pixels() const {
  return std::any_of(programs_.begin(), programs_.end(),
                     [](const FieldProgram& program) { return program.changes_pixels(); });
}

void FieldPrograms::run_program(std::size_t field, const decode::Tensor& tensor, const UseKey& use,
                                Scratch& scratch, std::span<std::byte> row) const {
  const FieldProgram& program = programs_[field];
  const UseKey key = program.key_of(use);
  // One Picture per field, so that its buffers keep the size that the field needs.
  Picture& picture = scratch.pictures[field];
  picture.start(view_of(tensor), present_part(tensor), image_size(tensor), row, tensor.reduction);
  for (const Instruction& instruction : program.instructions) {
    enter_step(instruction.step);
    instruction.op->apply({key, scratch.resize, scratch.lines}, picture, instruction.in_row);
  }
  // Without a normalizer the pixels may already be in the row: see FieldProgram::mark_rows.
  if (program.normalizer) {
    enter_step(program.normalize_step);
    program.normalizer->write(picture.view(), row.data());
  } else {
    picture.settle();
  }
}

Status FieldPrograms::make_sample(const decode::Sample& in, const UseKey& key, Scratch& scratch,
                                  decode::Sample& out) const {
  ECHOLINE_CHECK(in.tensors.size() == programs_.size());
  ECHOLINE_TRY(followers_.move(programs_, in, key, scratch.followers));
  out.tensors.resize(programs_.size());
  for (std::size_t i = 0; i < programs_.size(); ++i) {
    const decode::Tensor& from = tensor_of(i, in, scratch);
    decode::Tensor& to = out.tensors[i];
    if (!changes(i)) {
      to.borrow(from);
      continue;
    }
    ECHOLINE_ASSIGN(const decode::Shape shape, shape_after(i, from));
    make_room(to, outputs_[i].dtype, shape);
    ECHOLINE_TRY(make_field(i, in, key, scratch, to.bytes.span()));
  }
  return {};
}

Status FieldPrograms::make_field(std::size_t field, const decode::Sample& in, const UseKey& key,
                                 Scratch& scratch, std::span<std::byte> row) const {
  const decode::Tensor& tensor = in.tensors[field];
  const std::optional<std::size_t> image = mask_image_[field];
  if (!image) {
    run_program(field, tensor, key, scratch, row);
    return {};
  }
  enter_step(programs_[field].copy_step);
  const decode::Tensor& picture = in.tensors[*image];
  const auto moves = [&](Mover& mover) { programs_[*image].move(key, image_size(picture), mover); };
  return move_mask(outputs_[field], tensor, picture, moves, scratch.mask, row.data());
}

Status FieldPrograms::write_row(std::size_t field, const decode::Sample& in, const UseKey& key,
                                Scratch& scratch, std::span<std::byte> row) const {
  const decode::Tensor& tensor = in.tensors[field];
  ECHOLINE_ASSIGN(const decode::Shape shape, shape_after(field, tensor));
  ECHOLINE_TRY(check_shape(field, shape, row.size()));
  if (changes(field)) return make_field(field, in, key, scratch, row);
  if (tensor.content().data() == row.data()) return {};  // a step wrote it (Tensor::destination)
  enter_step(programs_[field].copy_step);
  std::memcpy(row.data(), tensor.content().data(), row.size());
  return {};
}

Result<std::uint64_t> FieldPrograms::ragged_bytes(std::size_t field, const decode::Sample& in,
                                                  Scratch& scratch) const {
  const decode::Tensor& tensor = tensor_of(field, in, scratch);
  if (!is_drawn(field)) return tensor.content().size();
  decode::ObjectRuns& masks = scratch.objects[field];
  ECHOLINE_TRY(load(tensor, masks).with_context("field " + outputs_[field].name));
  ECHOLINE_TRY(check_drawn(outputs_[field], masks.size));
  return masks.bytes_drawn();
}

Status FieldPrograms::write_rows(const decode::Sample& in, const UseKey& key, Scratch& scratch,
                                 std::span<const std::span<std::byte>> rows,
                                 std::span<std::uint64_t> lengths,
                                 const std::function<void()>& place) const {
  ECHOLINE_CHECK(in.tensors.size() == programs_.size() && rows.size() == programs_.size());
  ECHOLINE_TRY(followers_.move(programs_, in, key, scratch.followers));
  for (std::size_t i = 0; i < programs_.size(); ++i) {
    if (outputs_[i].ragged) {
      ECHOLINE_ASSIGN(lengths[i], ragged_bytes(i, in, scratch));
      ECHOLINE_TRY(check_ragged(outputs_[i], lengths[i], rows[i].size()));
    } else {
      ECHOLINE_TRY(write_row(i, in, key, scratch, rows[i]));
    }
  }
  if (place) place();
  for (std::size_t i = 0; i < programs_.size(); ++i) {
    if (!outputs_[i].ragged || lengths[i] == 0) continue;
    enter_step(programs_[i].copy_step);
    if (is_drawn(i)) {
      draw(scratch.objects[i], rows[i].data());
    } else {
      std::memcpy(rows[i].data(), tensor_of(i, in, scratch).content().data(), lengths[i]);
    }
  }
  return {};
}

}  // namespace echoline::augment
