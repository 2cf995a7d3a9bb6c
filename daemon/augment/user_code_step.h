// What the steps `python` and `plugin` have in common: both call code of the user in processes of
// its own (user_code/).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "augment/sample_step.h"
#include "augment/transforms.h"
#include "base/status.h"
#include "user_code/workers.h"

namespace echoline::augment {

// Samples of one exchange: with more, messages hardly cost less.
inline constexpr std::uint32_t kSamplesTogether = 16;
// Lowers it so that the places of all arrays fit into one message.
void limit_samples(user_code::Function& function);

// How many processes a step has.
std::uint32_t worker_count(std::uint32_t configured);

// The numbers of the fields that the step gets; without names, all.
Result<std::vector<std::size_t>> argument_fields(
    const google::protobuf::RepeatedPtrField<std::string>& names,
    const std::vector<decode::FieldType>& inputs);

// What a field of the same name before the step is, its replacement is, too: labels still go with
// their boxes, key points and masks are still such.
void take_role(const std::vector<decode::FieldType>& inputs, decode::FieldType& type);

// Replaces the field of that name, or adds one. Returns its number.
Result<std::size_t> set_field(std::vector<decode::FieldType>& fields,
                              const decode::FieldType& type);

// `arguments`: fields before the step, by input of the function; `results`: fields after the step,
// which are `outputs`, by its output.
std::unique_ptr<SampleStep> make_user_code_step(std::vector<decode::FieldType> outputs,
                                                std::vector<std::size_t> arguments,
                                                std::vector<std::size_t> results,
                                                std::unique_ptr<user_code::Workers> workers);

}  // namespace echoline::augment
