#include "augment/user_code_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "augment/sample_fields.h"
#include "base/processors.h"
#include "user_code/message.h"

namespace echoline::augment {
namespace {

// More processes of one step are of no use before they are configured.
constexpr std::uint32_t kAutoWorkersMax = 16;

}  // namespace

void limit_samples(user_code::Function& function) {
  const std::size_t most =
      user_code::samples_in_message(function.inputs.size(), function.outputs.size());
  function.samples = std::min(function.samples, static_cast<std::uint32_t>(most));
}

std::uint32_t worker_count(std::uint32_t configured) {
  if (configured > 0) return configured;  // else auto
  return std::min(kAutoWorkersMax, usable_processors(std::thread::hardware_concurrency()));
}

Result<std::vector<std::size_t>> argument_fields(
    const google::protobuf::RepeatedPtrField<std::string>& names,
    const std::vector<decode::FieldType>& inputs) {
  std::vector<std::size_t> arguments;
  for (const std::string& name : names) {
    ECHOLINE_ASSIGN(const std::size_t field, find_field(inputs, name));
    arguments.push_back(field);
  }
  for (std::size_t i = 0; names.empty() && i < inputs.size(); ++i) arguments.push_back(i);
  if (arguments.size() <= user_code::kFieldsMax) return arguments;
  return Status(Code::kInvalidArgument,
                fmt::format("{} fields; allowed: {}", arguments.size(), user_code::kFieldsMax));
}

void take_role(const std::vector<decode::FieldType>& inputs, decode::FieldType& type) {
  const auto before = std::ranges::find(inputs, type.name, &decode::FieldType::name);
  if (before == inputs.end()) return;
  if (type.ragged) type.of = before->of;
  const auto inner = [](const decode::FieldType& one) { return one.shape.span().subspan(1); };
  if (before->points && type.ragged && type.dtype == before->dtype &&
      std::ranges::equal(inner(type), inner(*before))) {
    type.points = true;
    type.pairs = before->pairs;
  }
  if (before->mask && type.fixed && type.dtype == before->dtype && type.shape.rank == 2) {
    type.mask = true;
    type.ignore = before->ignore;
    type.of = before->of;
  }
}

Result<std::size_t> set_field(std::vector<decode::FieldType>& fields,
                              const decode::FieldType& type) {
  const auto found = std::ranges::find(fields, type.name, &decode::FieldType::name);
  const auto field = static_cast<std::size_t>(found - fields.begin());
  if (found == fields.end()) {
    ECHOLINE_TRY(add_field(fields, type));
  } else {
    *found = type;
  }
  return field;
}

}  // namespace echoline::augment
