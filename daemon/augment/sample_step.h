// A step that reads and writes whole samples: several fields, of any element type and shape.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "decode/sample.h"
#include "echoline/shm/sample_random.h"

namespace echoline::user_code {
class Workers;
}

namespace echoline::augment {

// Immutable once compiled; any thread may run it with its own Scratch.
class SampleStep {
 public:
  // The state of one thread, reused from sample to sample.
  struct Scratch {
    virtual ~Scratch() = default;
    // A step that waits for something ends with kCancelled soon after this became true; may be
    // null.
    const std::atomic<bool>* stopping = nullptr;
  };

  // A sample among others.
  struct Member {
    const decode::Sample* in = nullptr;
    UseKey key;
    decode::Sample* out = nullptr;
    bool is_done = false;  // set by run_several
  };

  virtual ~SampleStep() = default;
  // The fields of the samples after the step, in the order of their tensors. A field without a
  // fixed shape gets one from a later step or from the first records, unless it is ragged.
  virtual const std::vector<decode::FieldType>& outputs() const = 0;
  // The processes that run the user's code; null for all other steps.
  virtual const user_code::Workers* workers() const { return nullptr; }
  // Of files that the step has read and keeps: a hash of what they contain, which is part of the
  // fingerprint, and the memory that they take.
  virtual std::string contents() const { return {}; }
  virtual std::uint64_t kept_bytes() const { return 0; }
  // Null if the step needs none.
  virtual std::unique_ptr<Scratch> make_scratch() const { return nullptr; }
  // Fills `out`, one tensor for each output, from `in`. A tensor of `out` may borrow from `in`,
  // which stays until the row is written, or be written to its `destination`. An error means that
  // the record is bad; the message says why, the caller adds the step. Draws are keyed by `key` and
  // the number of the step (Transform::make).
  virtual Status run(const decode::Sample& in, const UseKey& key, Scratch* scratch,
                     decode::Sample& out) const = 0;
  // The largest number of samples with which run_several saves work; 1: none.
  virtual std::uint32_t several_max() const { return 1; }
  // Whether it should always get so many, where there are, however long one of them takes.
  virtual bool is_batched() const { return false; }
  // The same as run() for each sample of which it sets is_done. The others are for run(), which
  // alone decides that a record is bad.
  virtual void run_several(std::span<Member> /*members*/, Scratch* /*scratch*/) const {}
};

}  // namespace echoline::augment
