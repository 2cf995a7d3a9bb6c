// Arrays to arrays, step by step, each with draws of its own: the augmentation part of a pipeline,
// compiled once per stream.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "decode/sample.h"
#include "echoline/shm/sample_random.h"

namespace echoline::v1 {
class Stream;
}

namespace echoline::augment {

class Scratch {
 public:
  virtual ~Scratch() = default;
};

// Any thread may run it with a Scratch of its own.
class Chain {
 public:
  // The augmentation steps of `stream.pipeline`; a step's number for SampleRandom is its place in
  // the pipeline without read, cache, echo, batch and publish steps, so that moving those changes
  // no pixel.
  static Result<std::unique_ptr<Chain>> compile(const v1::Stream& stream,
                                                const std::vector<decode::FieldType>& inputs);
  virtual ~Chain() = default;

  // Types of what comes out, with the shapes that are known. `outputs()[i].fixed` is false when
  // neither a step nor the configuration fixes it: then the first record does (see `outputs_for`).
  virtual const std::vector<decode::FieldType>& outputs() const = 0;
  // The same with every shape fixed as it comes out for this sample.
  virtual std::vector<decode::FieldType> outputs_for(const decode::Sample& sample) const = 0;
  // Makes these, as `outputs_for` gave them, the only shapes that `run` accepts (without it a row
  // of the right number of bytes will do); before any thread runs the chain.
  virtual void fix_outputs(std::vector<decode::FieldType> outputs) = 0;
  virtual std::unique_ptr<Scratch> make_scratch() const = 0;

  // Runs the chain on `in`, which stays as it is, and writes field i, of exactly the output type's
  // bytes, to rows[i]; a ragged field is copied as it is and its length stored to lengths[i]
  // (elements). A sample whose shape does not fit the outputs is an error (kInvalidArgument).
  virtual Status run(const decode::Sample& in, const UseKey& key, Scratch& scratch,
                     std::span<const std::span<std::byte>> rows,
                     std::span<std::uint64_t> lengths) const = 0;
};

}  // namespace echoline::augment
