// Moves the masks of single objects as an operation moves the pixels of their picture.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "augment/shown_lines.h"
#include "base/buffer.h"
#include "decode/object_runs.h"
#include "decode/relations.h"

namespace echoline::augment {

// The reusable memory of one thread.
struct ObjectScratch {
  ShownLines lines;
  std::vector<std::uint32_t> row_of;    // the first row that shows this row of the source, or more
  std::vector<decode::ObjectRun> runs;  // after the move
  std::vector<std::uint32_t> begins;    // by column and object
  Buffer before, moved;
  decode::ObjectRuns masks;  // of a field
};

// The same pixels that MaskMover shows for each mask; 0 where the step adds pixels. Only `move`
// draws pixels, of eight objects together, and makes runs of them again.
class ObjectMover final : public LinesMover {
 public:
  // Both must outlive this.
  ObjectMover(decode::ObjectRuns& masks, ObjectScratch& scratch)
      : LinesMover(scratch.lines), masks_(masks), scratch_(scratch) {
    lines().start(masks_.size);
  }

  void move(const recipes::Affine& back, const decode::ImageSize& size) override;

  // Makes the masks what the moves have shown. kResourceExhausted: more than kObjectRunsMax runs,
  // now or in between.
  Status finish();

 private:
  bool is_full() const { return scratch_.runs.size() > decode::kObjectRunsMax; }
  void show_all();
  void number_rows();
  // Adds the runs of one object.
  void show(std::span<const decode::ObjectRun> runs);
  // Adds the runs that the pixels in scratch_.moved have, where bit i is object `first` + i.
  void add_runs(std::uint32_t first);
  void take_runs();

  decode::ObjectRuns& masks_;
  ObjectScratch& scratch_;
  bool lacks_runs_ = false;  // some were left out
};

// Lets `moves`(Mover&) move the masks of objects of a picture of this size. kInvalidArgument: they
// have another size; kResourceExhausted: too many runs.
template <typename Moves>
Status move_objects(const decode::ImageSize& picture, const Moves& moves, ObjectScratch& scratch,
                    decode::ObjectRuns& masks) {
  ECHOLINE_TRY(decode::check_objects_size(masks.size, picture));
  ObjectMover mover(masks, scratch);
  moves(mover);
  return mover.finish();
}

// The same for the tensor of a field.
template <typename Moves>
Status move_objects(const decode::ImageSize& picture, const Moves& moves, ObjectScratch& scratch,
                    const decode::Tensor& from, decode::Tensor& to) {
  ECHOLINE_TRY(load(from, scratch.masks));
  ECHOLINE_TRY(move_objects(picture, moves, scratch, scratch.masks));
  store(scratch.masks, to);
  return {};
}

// The masks of objects that belong to the image `image` itself, not to boxes, as numbers of fields.
std::vector<std::size_t> objects_of_image(const std::vector<decode::FieldType>& fields,
                                          const std::string& image);

}  // namespace echoline::augment
