// The augmentation steps of a pipeline, compiled once per stream: arrays in, rows of a batch out.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "augment/field_programs.h"
#include "augment/sample_step.h"
#include "base/status.h"
#include "decode/sample.h"
#include "echoline/shm/sample_random.h"

namespace echoline::v1 {
class Stream;
}

namespace echoline::augment {

// A part of the steps that makes samples from samples: image programs, then at most one step on
// whole samples.
struct Stage {
  FieldPrograms programs;
  std::unique_ptr<SampleStep> step;  // may be null
  std::string context;               // the beginning of the step's error messages
  std::string name;                  // of the step, for times

  const std::vector<decode::FieldType>& outputs() const {
    return step == nullptr ? programs.outputs() : step->outputs();
  }
};

// The steps in their order: stages, then the programs that write the rows.
struct ChainParts {
  std::vector<Stage> stages;
  // Stages before the step `prepare`: preparation servers may run them.
  std::size_t prepared_stages = 0;
  // These, and the stages before an echo between the steps: all uses of a record share their
  // result.
  std::size_t shared_stages = 0;
  FieldPrograms last;
};

// The reusable state of one thread that runs a chain.
struct Scratch {
  struct OfStage {
    FieldPrograms::Scratch programs;
    decode::Sample between;  // after the programs, before the step
    std::unique_ptr<SampleStep::Scratch> step;
    decode::Sample after;
  };
  std::vector<OfStage> stages;
  FieldPrograms::Scratch last;
  // Of the sample in work: these stages have run already, and `after` has their results.
  std::size_t stages_done = 0;
  // `after` of the last prepared stage has what was decoded (run_prepared).
  bool has_decoded = false;

  // Steps that wait for something give up when `*stopping` is true. It has to live while the chain
  // runs with this scratch.
  void stop_with(const std::atomic<bool>* stopping);
};

// A sample on its way through the stages together with others.
struct RowTogether {
  const decode::Sample* in = nullptr;  // prepared, or the result of run_shared
  UseKey key;
  Scratch* scratch = nullptr;  // its own
  bool is_good = true;         // false: it has to run alone
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
  const std::vector<decode::FieldType>& outputs() const { return parts_.last.outputs(); }
  // The same, with the shapes that result from this prepared sample. An error: a step on whole
  // samples refuses it.
  Result<std::vector<decode::FieldType>> outputs_for(const decode::Sample& sample) const;
  // Makes these shapes, from `outputs_for`, the only ones that `run` accepts. Without this call
  // `run` accepts any shape with the right number of bytes. Call it before any thread runs the
  // chain.
  void fix_outputs(std::vector<decode::FieldType> outputs) {
    parts_.last.fix_outputs(std::move(outputs));
  }
  std::unique_ptr<Scratch> make_scratch() const;

  // The part of a picture of this size, in field `field`, that the steps read for this use.
  decode::Part part_of(std::size_t field, const ImageSize& size, const UseKey& key) const;
  // The types of prepared samples: what the steps before `prepare` make of decoded ones. They
  // are the decoded types if there are no such steps.
  const std::vector<decode::FieldType>& prepared_types() const {
    return has_prepared() ? parts_.stages[parts_.prepared_stages - 1].outputs() : inputs_;
  }
  // Whether there are steps before `prepare`.
  bool has_prepared() const { return parts_.prepared_stages > 0; }
  // Runs these steps, if any, on a decoded sample, whose pictures need only have their part_of, and
  // replaces it by the result, which may borrow from `scratch`. They draw nothing.
  Status run_prepared(decode::Sample& sample, Scratch& scratch) const;
  // Call it before the next sample is decoded into `sample`, whose last result nobody needs any
  // more: gives the memory of the last decoded pictures back to it. Otherwise a small result could
  // have their memory, and each decoded picture new memory.
  void give_back(decode::Sample& sample, Scratch& scratch) const;
  // Whether there are steps between `prepare` and an echo, whose result all uses of a record share.
  bool has_shared() const { return parts_.shared_stages > parts_.prepared_stages; }
  // Runs these steps, with the draws of use 0, on a prepared sample. Its pictures need only have
  // their part_of. The result is in `scratch` and may borrow from `in`; the caller may take its
  // buffers.
  Result<decode::Sample*> run_shared(const decode::Sample& in, const UseKey& key,
                                     Scratch& scratch) const;
  // Runs the other steps on `in`, which it does not change: the result of run_shared, or, without
  // shared steps, a prepared sample, whose pictures need only have their part_of.
  // Writes field i to rows[i], which has exactly the bytes of its output type. A ragged field is
  // copied last, and its length in bytes goes to lengths[i]. A sample whose shape does not fit
  // the outputs is an error (kInvalidArgument). `place` may point rows of ragged fields elsewhere:
  // it is called when all lengths are known and no error can come any more.
  Status run(const decode::Sample& in, const UseKey& key, Scratch& scratch,
             std::span<const std::span<std::byte>> rows, std::span<std::uint64_t> lengths,
             const std::function<void()>& place = nullptr) const;
  // The largest number of samples that a step can take at a time; 1: all steps take one.
  std::uint32_t together_max() const { return together_max_; }
  // Whether a step has `batched`: it always gets as many, where there are.
  bool has_batched_step() const;
  // Whether such a step follows `begins_shared`: the result of run_shared, or a prepared sample.
  bool has_together(bool begins_shared) const {
    return together_stages_ > (begins_shared ? parts_.shared_stages : parts_.prepared_stages);
  }
  // Runs the stages up to the last such step on several samples, so that run_shared and run with
  // the same arguments and scratch only do the rest.
  void run_together(std::span<RowTogether> rows, bool begins_shared) const;
  // The processes of all steps that run users' code.
  std::vector<const user_code::Workers*> user_code() const;
  // The samples that they gave up because calls exceeded `timeout`.
  std::uint64_t given_up() const;
  // Of files that steps have read and keep (SampleStep::contents): the hashes, and the memory.
  std::string contents() const;
  std::uint64_t kept_bytes() const;
  // False: all fields are copied unchanged.
  bool changes_values() const { return !parts_.stages.empty() || parts_.last.changes_pixels(); }

 private:
  Chain(ChainParts parts, const std::vector<decode::FieldType>& inputs);
  // Runs stages `begin` to `end`. The result is in `scratch`, or `in` itself if there are none.
  Result<const decode::Sample*> run_stages(std::size_t begin, std::size_t end,
                                           const decode::Sample& in, const UseKey& key,
                                           Scratch& scratch) const;

  // Sets `destination` of the results of the last stage's step, for fields that are then copied
  // unchanged to `rows`. Empty `rows`: removes all destinations.
  void show_rows(std::span<const std::span<std::byte>> rows, Scratch& scratch) const;
  // Runs one stage on all rows that are good.
  void run_stage_together(std::size_t index, std::span<RowTogether> rows) const;

  ChainParts parts_;
  const std::vector<decode::FieldType> inputs_;
  std::uint32_t together_max_ = 1;
  std::size_t together_stages_ = 0;  // up to the last one whose step takes several samples
};

}  // namespace echoline::augment
