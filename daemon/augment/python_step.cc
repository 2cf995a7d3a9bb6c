// The step python, and the data set of read.python: code of the user, in processes of its own
// (user_code/).
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "augment/sample_fields.h"
#include "augment/user_code_step.h"
#include "base/bounded_file.h"
#include "user_code/environment.h"

namespace echoline::augment {
namespace {

constexpr std::size_t kSourceBytesMax = 1 << 20;
// In `version`: those of the interpreter and of numpy.
constexpr std::string_view kVersions = "{versions}";

Status error(std::string text) { return Status(Code::kInvalidArgument, std::move(text)); }

shm::DType dtype_of(const std::string& name) {
  for (std::uint32_t code = shm::kUint8; code < shm::kBfloat16; ++code) {
    if (shm::dtype_name(code) == name) return static_cast<shm::DType>(code);
  }
  return shm::kUint8;  // rgb, gray
}

Result<decode::Shape> shape_of(const v1::PythonField& entry, std::uint64_t bytes_max,
                               std::size_t bytes_each) {
  decode::Shape shape;
  std::uint64_t left = bytes_max / bytes_each;
  for (const std::uint32_t size : entry.shape()) {
    left /= size;
    shape.sizes[shape.rank++] = size;
  }
  if (left > 0) return shape;
  return error(fmt::format("the shape [{}] needs more than python.sample_bytes, {}",
                           fmt::join(entry.shape(), ", "), bytes_max));
}

Result<decode::FieldType> picture_type(const v1::PythonField& entry, const decode::Shape& size) {
  if (size.rank != 0 && size.rank != 2)
    return error(fmt::format("`as: {}` has no shape, or [height, width]", entry.as()));
  decode::FieldType type;
  type.fixed = size.rank == 2;
  type.image = true;
  const std::uint32_t channels = entry.as() == "rgb" ? 3 : 1;
  type.shape = {{size.sizes[0], size.sizes[1], channels}, 3};
  return type;
}

Result<decode::FieldType> ragged_type(const v1::PythonField& entry, shm::DType dtype,
                                      const decode::Shape& inner, std::uint64_t bytes_max) {
  const std::uint64_t row_bytes = inner.elements() * shm::dtype_bytes(dtype);
  if (inner.rank == decode::kRankMax) return error("a shape with max_length has at most 5 sizes");
  if (entry.max_length() > bytes_max / row_bytes)
    return error(fmt::format("max_length {} needs more than python.sample_bytes, {}",
                             entry.max_length(), bytes_max));
  decode::FieldType type;
  type.dtype = dtype;
  type.ragged = true;
  type.shape = {{static_cast<std::uint32_t>(entry.max_length())}, inner.rank + 1};
  std::copy_n(inner.sizes.begin(), inner.rank, type.shape.sizes.begin() + 1);
  return type;
}

// The type of a field that the function returns; without a type in the settings, that of the field
// of the same name before the step.
Result<decode::FieldType> type_of(const std::string& name, const v1::PythonField& entry,
                                  const std::vector<decode::FieldType>& inputs,
                                  std::uint64_t bytes_max) {
  if (entry.as().empty() && inputs.empty()) return error("needs `as`, the type of its elements");
  if (entry.as().empty()) {
    if (entry.shape_size() > 0 || entry.has_max_length())
      return error("a field with shape or max_length needs `as`, the type of its elements");
    ECHOLINE_ASSIGN(const std::size_t before, find_field(inputs, name));
    return inputs[before];
  }
  const shm::DType dtype = dtype_of(entry.as());
  ECHOLINE_ASSIGN(const decode::Shape shape, shape_of(entry, bytes_max, shm::dtype_bytes(dtype)));
  if (entry.as() == "rgb" || entry.as() == "gray") return picture_type(entry, shape);
  if (entry.has_max_length()) {
    ECHOLINE_ASSIGN(decode::FieldType rows, ragged_type(entry, dtype, shape, bytes_max));
    return rows;
  }
  decode::FieldType type;
  type.dtype = dtype;
  type.fixed = true;
  type.shape = shape;
  type.image =
      dtype == shm::kUint8 && shape.rank == 3 && (shape.sizes[2] == 1 || shape.sizes[2] == 3);
  return type;
}

// The names of a map in one order on every run.
std::vector<std::string> sorted_names(
    const google::protobuf::Map<std::string, v1::PythonField>& fields) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : fields) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

// The fields after the step, of which `results` are those that the function returns. A data set has
// no fields before it.
Status add_results(const v1::Python& settings, const std::vector<decode::FieldType>& inputs,
                   std::vector<decode::FieldType>& outputs, std::vector<std::size_t>& results) {
  if (settings.out().empty())
    return error("python.out: missing; it names the fields that the function returns");
  for (const std::string& name : sorted_names(settings.out())) {
    Result<decode::FieldType> type =
        type_of(name, settings.out().at(name), inputs, settings.sample_bytes());
    if (!type.ok()) return type.status().with_context("python.out: field " + name);
    type->name = name;
    take_role(inputs, *type);
    const Result<std::size_t> field = set_field(outputs, *type);
    if (!field.ok()) return field.status().with_context("python.out");
    results.push_back(*field);
  }
  return {};
}

Result<user_code::Function> function_of(const v1::Python& settings, std::uint8_t number) {
  user_code::Function function;
  function.interpreter = user_code::interpreter_or_default(settings.interpreter());
  function.file = std::filesystem::absolute(settings.file()).lexically_normal().string();
  Result<std::string> source = read_bounded_file(function.file, kSourceBytesMax);
  if (!source.ok()) return source.status().with_context("python.file");
  function.source = std::move(*source);
  function.name = settings.function();
  function.step = number;
  function.counts_versions = settings.version().find(kVersions) != std::string::npos;
  function.workers = worker_count(settings.workers());
  function.threads = settings.threads();
  function.timeout_ns = settings.timeout();
  function.memory_bytes = settings.memory();
  function.sample_bytes = settings.sample_bytes();
  function.is_batched = settings.batched();
  function.samples = settings.has_chunk() ? settings.chunk() : kSamplesTogether;
  auto account = user_code::account_of(settings.user());
  if (!account.ok()) return account.status().with_context("python.user");
  function.account = std::move(*account);
  function.variables = {settings.environment().begin(), settings.environment().end()};
  return function;
}

// `inputs`: only the sample's number.
Result<std::unique_ptr<SampleStep>> make_data_set(const v1::Step& step, std::uint8_t number,
                                                  const std::vector<decode::FieldType>& inputs) {
  const v1::Python& settings = step.read().python();
  std::vector<decode::FieldType> outputs;
  std::vector<std::size_t> results;
  ECHOLINE_TRY(add_results(settings, {}, outputs, results));
  ECHOLINE_ASSIGN(user_code::Function function, function_of(settings, number));
  function.is_data_set = true;
  function.names = {settings.names().begin(), settings.names().end()};
  function.inputs = inputs;
  function.outputs = outputs;
  limit_samples(function);
  ECHOLINE_ASSIGN(auto workers, user_code::Workers::start(std::move(function)));
  return make_user_code_step(std::move(outputs), {0}, std::move(results), std::move(workers));
}

Result<std::unique_ptr<SampleStep>> make_python(const v1::Step& step, std::uint8_t number,
                                                const std::vector<decode::FieldType>& inputs) {
  const v1::Python& settings = step.python();
  std::vector<decode::FieldType> outputs = inputs;
  std::vector<std::size_t> results;
  ECHOLINE_TRY(add_results(settings, inputs, outputs, results));
  Result<std::vector<std::size_t>> arguments = argument_fields(settings.fields(), inputs);
  if (!arguments.ok()) return arguments.status().with_context("python.fields");
  ECHOLINE_ASSIGN(user_code::Function function, function_of(settings, number));
  for (const std::size_t field : *arguments) function.inputs.push_back(inputs[field]);
  for (const std::size_t field : results) function.outputs.push_back(outputs[field]);
  limit_samples(function);
  ECHOLINE_ASSIGN(auto workers, user_code::Workers::start(std::move(function)));
  return make_user_code_step(std::move(outputs), std::move(*arguments), std::move(results),
                             std::move(workers));
}

}  // namespace

const Transform kPython{v1::Step::kPython, nullptr, make_python};
const Transform kPythonDataSet{v1::Step::kRead, nullptr, make_data_set};

}  // namespace echoline::augment
