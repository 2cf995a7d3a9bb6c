#include "user_code/results.h"

#include <algorithm>

namespace echoline::user_code {

std::size_t samples_together(const Function& function, std::span<const SampleCall> samples) {
  const std::size_t most = std::min<std::size_t>(samples.size(), function.samples);
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < most; ++i) {
    // With two gaps for each array: not less than lay_out needs.
    for (const decode::Tensor* tensor : samples[i].arguments)
      bytes += tensor->content().size() + 2 * kAlignment;
    if (bytes > function.sample_bytes) return std::max<std::size_t>(1, i);
  }
  return most;
}

Results::Results(const Function& function) : function_(function) {
  for (const decode::FieldType& output : function.outputs) {
    const auto found = std::ranges::find(function.inputs, output.name, &decode::FieldType::name);
    same_input_.push_back(static_cast<std::size_t>(found - function.inputs.begin()));
  }
}

Result<std::size_t> Results::take(const Reply& reply, std::span<const std::byte> area,
                                  std::span<const SampleCall> samples) const {
  const std::size_t outputs = function_.outputs.size();
  const std::size_t answered = reply.arrays.size() / outputs;
  // A function of one sample may have failed for a later one; a chunk has all results or none.
  const std::size_t least = function_.is_batched ? samples.size() : 1;
  if (reply.arrays.size() % outputs != 0 || answered < least || answered > samples.size())
    return Status(Code::kInvalidArgument, "a wrong number of fields");
  for (std::size_t i = 0; i < reply.arrays.size(); ++i) {
    ECHOLINE_TRY(take_one(reply.arrays[i], area, samples[i / outputs], i % outputs));
  }
  return answered;
}

Status Results::take_one(const ArrayPlace& place, std::span<const std::byte> area,
                         const SampleCall& sample, std::size_t output) const {
  const decode::FieldType& type = function_.outputs[output];
  decode::Tensor& result = *sample.results[output];
  if (place.dtype == 0) {
    if (same_input_[output] == sample.arguments.size())
      return Status(Code::kInvalidArgument, "a field that was no argument");
    const decode::Tensor& argument = *sample.arguments[same_input_[output]];
    ECHOLINE_TRY(check_type(argument.dtype, argument.shape, type));
    result.borrow(argument);
    return {};
  }
  ECHOLINE_TRY(check_array(place, type, area.size()));
  result.part.reset();
  result.reduction = {};
  result.borrowed.reset();
  result.dtype = type.dtype;
  result.shape = place.shape;
  const std::span<const std::byte> bytes = area.subspan(place.offset, place.bytes());
  std::span<std::byte> to = result.destination;
  if (to.size() == bytes.size() && !to.empty()) {
    result.borrowed = to;
  } else {
    result.bytes.resize(bytes.size());
    to = result.bytes.span();
  }
  // Copied before anything looks at it: the worker can still write there.
  std::copy(bytes.begin(), bytes.end(), to.begin());
  return {};
}

}  // namespace echoline::user_code
