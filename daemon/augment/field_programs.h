// Image programs side by side: one for each field of a sample. Boxes of an image whose program
// moves pixels follow them, with their key points; those of which nothing is left are removed, with
// their labels. Masks of the image follow, too, and masks of its objects. Other fields without
// operations are copied, or passed on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "augment/field_program.h"
#include "augment/followers.h"
#include "augment/mask_mover.h"
#include "augment/op.h"
#include "augment/resize.h"
#include "base/status.h"
#include "decode/sample.h"
#include "echoline/shm/sample_random.h"

namespace echoline::augment {

// Immutable after fix_outputs; any thread may run it with its own Scratch.
class FieldPrograms {
 public:
  // The reusable state of one thread.
  struct Scratch {
    std::vector<Picture> pictures;  // by field
    ResizeScratch resize;
    std::vector<float> lines;
    Followers::Scratch followers;
    MaskScratch mask;
    // Masks of objects, by field, as they are written to the row.
    std::vector<decode::ObjectRuns> objects;
  };

  explicit FieldPrograms(std::vector<FieldProgram> programs);

  // The types of the results, as far as they are known without a sample.
  const std::vector<decode::FieldType>& outputs() const { return outputs_; }
  // The same, with the shapes that result from this sample.
  std::vector<decode::FieldType> outputs_for(const decode::Sample& sample) const;
  // Makes these shapes the only ones that write_rows accepts; before, it accepts any shape with the
  // right number of bytes.
  void fix_outputs(std::vector<decode::FieldType> outputs) { outputs_ = std::move(outputs); }
  // Makes masks of objects arrays of pixels in write_rows: these are the last programs.
  void draw_objects();
  Scratch make_scratch() const;

  // The part of a picture of this size, in field `field`, that is read for this use.
  decode::Part part_of(std::size_t field, const ImageSize& size, const UseKey& key) const {
    return programs_[field].part(key, size);
  }
  // False: all fields stay as they are.
  bool changes_pixels() const;
  // Whether the field's own program, or that of its image, changes it.
  bool changes(std::size_t field) const {
    return programs_[field].changes_pixels() || mask_image_[field].has_value();
  }

  // Fills `out`; fields that stay as they are borrow from `in`.
  Status make_sample(const decode::Sample& in, const UseKey& key, Scratch& scratch,
                     decode::Sample& out) const;
  // Writes the rows of a batch: see Chain::run.
  Status write_rows(const decode::Sample& in, const UseKey& key, Scratch& scratch,
                    std::span<const std::span<std::byte>> rows, std::span<std::uint64_t> lengths,
                    const std::function<void()>& place) const;

 private:
  // Lets the masks of the image field `image` follow it.
  void add_masks_of(std::size_t image);
  // Whether a field's masks of objects are drawn into the row.
  bool is_drawn(std::size_t field) const {
    return programs_[field].input.objects_max > 0 && outputs_[field].objects_max == 0;
  }
  // The bytes of a ragged row. Masks of objects are then in scratch.objects.
  Result<std::uint64_t> ragged_bytes(std::size_t field, const decode::Sample& in,
                                     Scratch& scratch) const;
  // The tensor of a field that is not an image: as it is in the sample, or moved.
  const decode::Tensor& tensor_of(std::size_t field, const decode::Sample& in,
                                  const Scratch& scratch) const {
    return followers_.image_of(field) ? scratch.followers.moved[field] : in.tensors[field];
  }
  Result<decode::Shape> shape_after(std::size_t field, const decode::Tensor& tensor) const;
  Status check_shape(std::size_t field, const decode::Shape& shape, std::size_t row_bytes) const;
  // Writes the result of a field that changes, whose shape is valid.
  Status make_field(std::size_t field, const decode::Sample& in, const UseKey& key,
                    Scratch& scratch, std::span<std::byte> row) const;
  void run_program(std::size_t field, const decode::Tensor& tensor, const UseKey& key,
                   Scratch& scratch, std::span<std::byte> row) const;
  Status write_row(std::size_t field, const decode::Sample& in, const UseKey& key, Scratch& scratch,
                   std::span<std::byte> row) const;

  std::vector<FieldProgram> programs_;
  Followers followers_;
  // By field: the image that a mask follows.
  std::vector<std::optional<std::size_t>> mask_image_;
  std::vector<decode::FieldType> outputs_;
};

}  // namespace echoline::augment
