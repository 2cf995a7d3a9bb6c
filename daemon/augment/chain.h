// The augmentation steps of a pipeline, compiled once per stream: arrays in, rows of a batch out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "augment/field_program.h"
#include "augment/op.h"
#include "augment/resize.h"
#include "base/status.h"
#include "decode/sample.h"
#include "echoline/shm/sample_random.h"

namespace echoline::v1 {
class Stream;
}

namespace echoline::augment {

// The reusable state of one thread that runs a chain.
struct Scratch {
  std::vector<Picture> pictures;  // by field
  ResizeScratch resize;
};

// Immutable after fix_outputs; any thread may run it with its own Scratch.
class Chain {
 public:
  // Compiles the augmentation steps of `stream.pipeline`. A step's number for SampleRandom is its
  // index in the pipeline without read, cache, echo, batch and publish steps, so moving those
  // changes no pixel. kInvalidArgument names the step and what is wrong with it.
  static Result<std::unique_ptr<Chain>> compile(const v1::Stream& stream,
                                                const std::vector<decode::FieldType>& inputs);

  // The types of the results. `outputs()[i].fixed` is false if neither a step nor the configuration
  // determines the shape; then the first record does (see `outputs_for`).
  const std::vector<decode::FieldType>& outputs() const { return outputs_; }
  // The same, with the shapes that result from this sample.
  std::vector<decode::FieldType> outputs_for(const decode::Sample& sample) const;
  // Makes these shapes, from `outputs_for`, the only ones that `run` accepts. Without this call
  // `run` accepts any shape with the right number of bytes. Call it before any thread runs the
  // chain.
  void fix_outputs(std::vector<decode::FieldType> outputs) { outputs_ = std::move(outputs); }
  std::unique_ptr<Scratch> make_scratch() const;

  // The part of a picture of this size, in field `field`, that `run` reads for this use.
  decode::Part part_of(std::size_t field, const ImageSize& size, const UseKey& key) const;
  // Runs the chain on `in`, which it does not change. Its pictures need only have their part_of.
  // Writes field i to rows[i], which has exactly the bytes of its output type. A ragged field is
  // copied last, and its length in bytes goes to lengths[i]. A sample whose shape does not fit
  // the outputs is an error (kInvalidArgument). `place` may point rows of ragged fields elsewhere:
  // it is called when all lengths are known and no error can come any more.
  Status run(const decode::Sample& in, const UseKey& key, Scratch& scratch,
             std::span<const std::span<std::byte>> rows, std::span<std::uint64_t> lengths,
             const std::function<void()>& place = nullptr) const;
  // False: all fields are copied unchanged.
  bool changes_pixels() const;

 private:
  explicit Chain(std::vector<FieldProgram> programs);
  Result<decode::Shape> shape_after(std::size_t field, const decode::Tensor& tensor) const;
  Status check_shape(std::size_t field, const decode::Shape& shape, std::size_t row_bytes) const;
  Status check_ragged(std::size_t field, const decode::Tensor& tensor, std::size_t row_bytes) const;
  Status run_field(std::size_t field, const decode::Tensor& tensor, const UseKey& key,
                   Scratch& scratch, std::span<std::byte> row) const;

  const std::vector<FieldProgram> programs_;
  std::vector<decode::FieldType> outputs_;
};

}  // namespace echoline::augment
