// Record bytes to arrays, by the `decode` step of the pipeline.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "decode/sample.h"
#include "record/core/data_set.h"

namespace echoline::v1 {
class Decode;
}

namespace echoline::decode {

// Per-thread state of decoding (the JPEG library's objects, row buffers); reused, so that nothing
// is allocated per sample in the steady state.
class Scratch {
 public:
  virtual ~Scratch() = default;
};

// Compiled once per stream; any thread may decode with a Scratch of its own.
class Decoder {
 public:
  // Fields in the order of their names.
  static Result<std::unique_ptr<Decoder>> compile(const v1::Decode& step);
  virtual ~Decoder() = default;

  virtual const std::vector<FieldType>& fields() const = 0;
  virtual std::unique_ptr<Scratch> make_scratch() const = 0;
  // A failure is the decoder's verdict on the record: Status.message() names the field and the
  // reason. `Status.code()`: kNotFound missing field, kDataLoss corrupt, kResourceExhausted over a
  // cap, kInvalidArgument a value of the wrong kind (no number, wrong shape).
  virtual Status decode(const record::Fields& record, Scratch& scratch, Sample& out) const = 0;
};

}  // namespace echoline::decode
