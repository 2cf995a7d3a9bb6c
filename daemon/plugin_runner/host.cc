#include "plugin_runner/host.h"

#include <algorithm>
#include <limits>

#include "echoline/shm/dtype.h"
#include "plugin_runner/failure.h"

namespace echoline::plugin_runner {
namespace {

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + shm::kWorkerAlignment - 1) / shm::kWorkerAlignment * shm::kWorkerAlignment;
}

// The bytes of such an array, or more than `max` if it is larger than that.
std::uint64_t bytes_of(const Field& field, std::span<const std::int64_t> shape, std::uint64_t max) {
  std::uint64_t elements = 1;
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  for (const std::int64_t size : shape) {
    if (static_cast<std::uint64_t>(size) > max / elements) return max + 1;
    elements *= static_cast<std::uint64_t>(size);
  }
  const std::uint64_t each = shm::dtype_bytes(field.dtype);
  return elements > max / each ? max + 1 : elements * each;
}

std::vector<std::int64_t> sizes_of(const shm::ArrayWords& words) {
  return {words.sizes, words.sizes + words.rank};
}

const char* words_for(int status) {
  switch (status) {
    case ECHOLINE_PLUGIN_BAD_SAMPLE:
      return "it returned ECHOLINE_PLUGIN_BAD_SAMPLE";
    case ECHOLINE_PLUGIN_BAD_SETTINGS:
      return "it refuses its settings or inputs";
    case ECHOLINE_PLUGIN_NO_MEMORY:
      return "it has no memory";
    case ECHOLINE_PLUGIN_BROKEN:
      return "it returned ECHOLINE_PLUGIN_BROKEN";
    default:
      return nullptr;
  }
}

}  // namespace

Host::Host(std::span<std::byte> area)
    : functions_{{.size = sizeof(echoline_plugin_host),
                  .fail = fail_entry,
                  .add_output = add_output_entry,
                  .allocate = allocate_entry,
                  .return_input = return_input_entry},
                 this},
      area_(area) {}

void Host::begin_sample(const std::vector<Field>& inputs, const std::vector<Field>& outputs,
                        std::span<const shm::ArrayWords> places) {
  inputs_ = &inputs;
  outputs_ = &outputs;
  places_ = places;
  results_.assign(outputs.size(), {});
  made_.assign(outputs.size(), false);
  refusal_.clear();
  failure_.clear();
}

std::string Host::unfinished() const {
  if (!refusal_.empty()) return refusal_;
  for (std::size_t i = 0; i < made_.size(); ++i) {
    if (!made_[i]) return fmt::format("run did not make the field {}", (*outputs_)[i].name);
  }
  return {};
}

std::string Host::failure_text(int status) {
  const std::string text = std::exchange(failure_, {});
  if (!text.empty()) return text;
  const char* words = words_for(status);
  return words == nullptr ? fmt::format("it returned the unknown status {}", status) : words;
}

const Field& Host::new_output(std::size_t output) const {
  if (outputs_ == nullptr) fail("allocate and return_input are only for run");
  if (output >= outputs_->size())
    fail("run made the output {}, and describe added {}", output, outputs_->size());
  const Field& field = (*outputs_)[output];
  if (made_[output]) fail("run made the field {} twice", field.name);
  return field;
}

std::byte* Host::allocate(std::size_t output, std::span<const std::int64_t> shape) {
  const Field& field = new_output(output);
  if (!field.fits(shape))
    fail("field {} has the shape {}; described was {}", field.name, shape_text(shape),
         field.declared());
  const std::uint64_t room = area_.size() - used_;
  const std::uint64_t bytes = bytes_of(field, shape, room);
  constexpr std::int64_t kSizeMax = std::numeric_limits<std::uint32_t>::max();
  if (bytes > room || std::ranges::any_of(shape, [](auto size) { return size > kSizeMax; }))
    fail("the results are larger than the step's sample_bytes, {}", area_.size());
  shm::ArrayWords& words = results_[output];
  words = {.dtype = field.dtype,
           .rank = static_cast<std::uint32_t>(shape.size()),
           .sizes = {},
           .offset = used_};
  std::ranges::transform(shape, words.sizes,
                         [](auto size) { return static_cast<std::uint32_t>(size); });
  std::byte* const memory = area_.data() + used_;
  used_ = std::min(used_ + aligned(bytes), area_.size());
  made_[output] = true;
  return memory;
}

void Host::return_input(std::size_t output, std::size_t input) {
  const Field& field = new_output(output);
  if (input >= inputs_->size()) fail("run returned the input {} of {}", input, inputs_->size());
  const Field& from = (*inputs_)[input];
  if (from.name != field.name)
    fail("run returned the input {} as field {}; that needs the same name", from.name, field.name);
  const std::vector<std::int64_t> shape = sizes_of(places_[input]);
  if (from.dtype != field.dtype || !field.fits(shape))
    fail("run returned the input {}, {} {}; described was {}", from.name,
         shm::dtype_name(from.dtype), shape_text(shape), field.declared());
  made_[output] = true;
}

Host& Host::self_of(const echoline_plugin_host* host) {
  // `host` is the first member.
  return *reinterpret_cast<const Functions*>(host)->self;
}

int Host::fail_entry(const echoline_plugin_host* host, int status, const char* text) noexcept {
  self_of(host).failure_ = text == nullptr ? "" : text;
  return status;
}

int Host::add_output_entry(const echoline_plugin_host* host,
                           const echoline_plugin_field* field) noexcept {
  try {
    if (field == nullptr) fail("describe: a field is NULL");
    self_of(host).described_.push_back(output_from(*field));
    return ECHOLINE_PLUGIN_OK;
  } catch (const std::exception& error) {
    // Also where the plugin does not look at the result.
    self_of(host).refusal_ = error.what();
    return fail_entry(host, ECHOLINE_PLUGIN_BAD_SETTINGS, error.what());
  }
}

void* Host::allocate_entry(const echoline_plugin_host* host, std::size_t output,
                           std::int32_t axis_count, const std::int64_t* shape) noexcept {
  try {
    const bool right = axis_count >= 0 && axis_count <= ECHOLINE_PLUGIN_AXES_MAX &&
                       (axis_count == 0 || shape != nullptr);
    if (!right)
      fail("allocate: {} axes; allowed: 0 to {}, with a shape", axis_count,
           ECHOLINE_PLUGIN_AXES_MAX);
    return self_of(host).allocate(output, {shape, static_cast<std::size_t>(axis_count)});
  } catch (const std::exception& error) {
    self_of(host).refusal_ = error.what();
    return nullptr;
  }
}

int Host::return_input_entry(const echoline_plugin_host* host, std::size_t output,
                             std::size_t input) noexcept {
  try {
    self_of(host).return_input(output, input);
    return ECHOLINE_PLUGIN_OK;
  } catch (const std::exception& error) {
    self_of(host).refusal_ = error.what();
    return ECHOLINE_PLUGIN_BAD_SAMPLE;
  }
}

}  // namespace echoline::plugin_runner
