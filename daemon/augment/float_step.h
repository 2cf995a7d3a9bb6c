// The base of steps that change one float32 field and pass the others on.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "augment/sample_fields.h"
#include "augment/sample_step.h"
#include "base/buffer.h"
#include "base/status.h"

namespace echoline::augment {

// The number of the audio field `name`, or of a spectrogram, float32 [frames, bands].
// kInvalidArgument says what the field is.
Result<std::size_t> find_audio(const std::vector<decode::FieldType>& fields,
                               const std::string& name);
Result<std::size_t> find_spectrogram(const std::vector<decode::FieldType>& fields,
                                     const std::string& name);

class FloatStep : public SampleStep {
 public:
  // `outputs`: the inputs, where the step has changed the type of field number `field`.
  FloatStep(std::vector<decode::FieldType> outputs, std::size_t field)
      : outputs_(std::move(outputs)), field_(field) {}

  const std::vector<decode::FieldType>& outputs() const override { return outputs_; }
  std::unique_ptr<Scratch> make_scratch() const override {
    return std::make_unique<FloatScratch>();
  }
  Status run(const decode::Sample& in, const UseKey& key, Scratch* scratch,
             decode::Sample& out) const override;

 protected:
  struct FloatScratch : Scratch {
    Buffer aligned;  // a copy of values that lie at any address of a cache or a record
  };
  // The sample and the use that a step works on.
  struct Work {
    const decode::Shape& shape;
    std::span<const float> values;
    const UseKey& key;
    Scratch* scratch;
  };

  // Fills out.tensors[field()], and tensors of fields that the step has appended.
  virtual Status change(const Work& work, decode::Sample& out) const = 0;
  std::size_t field() const { return field_; }
  // Room for the changed field; its values are undefined.
  std::span<float> make_values(decode::Sample& out, const decode::Shape& shape) const;

 private:
  const std::vector<decode::FieldType> outputs_;
  const std::size_t field_;
};

}  // namespace echoline::augment
