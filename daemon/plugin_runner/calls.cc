#include "plugin_runner/calls.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "plugin_runner/failure.h"

namespace echoline::plugin_runner {
namespace {

constexpr std::size_t kLineBytesMax = 400;
constexpr std::size_t kSizesOfInput = 2 * ECHOLINE_PLUGIN_AXES_MAX;

// The interface has no exceptions: one that leaves the plugin ends the process, with its stack.
template <typename Function, typename... Args>
auto call_plugin(Function function, Args... args) noexcept {
  return function(args...);
}

template <typename T>
T read_at(std::span<const std::byte> message, std::size_t offset) {
  T value;
  std::memcpy(&value, message.data() + offset, sizeof value);
  return value;
}

void append(std::vector<std::byte>& message, const void* data, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(data);
  message.insert(message.end(), begin, begin + bytes);
}

// One line of a length that a log can have.
std::string line_of(std::string_view text) {
  std::string line(text.substr(0, kLineBytesMax));
  std::ranges::replace(line, '\n', ' ');
  return line;
}

}  // namespace

std::vector<std::byte> text_reply(shm::ReplyKind kind, std::uint64_t sequence,
                                  std::string_view group, std::string_view line,
                                  std::string_view more) {
  const shm::ReplyHead head{
      .kind = static_cast<std::uint32_t>(kind), .count = 0, .sequence = sequence};
  const std::string text = line_of(group) + '\0' + line_of(line) + '\0' + std::string(more);
  std::vector<std::byte> message;
  append(message, &head, sizeof head);
  append(message, text.data(), text.size());
  if (message.size() > shm::kWorkerMessageBytesMax) fail("a description of {} bytes", more.size());
  return message;
}

std::vector<Field> describe(const echoline_plugin_step& step, const Settings& settings,
                            Host& host) {
  const FieldViews inputs(settings.inputs);
  const echoline_plugin_request request{.size = sizeof request,
                                        .settings = settings.settings.c_str(),
                                        .input_count = inputs.size(),
                                        .inputs = inputs.list()};
  const int status = call_plugin(step.describe, host.functions(), &request);
  if (status != ECHOLINE_PLUGIN_OK) throw Failure(host.failure_text(status));
  if (!host.refusal().empty()) throw Failure(host.refusal());
  std::vector<Field> outputs = host.take_described();
  if (outputs.empty()) fail("describe added no output");
  return outputs;
}

Calls::Calls(const echoline_plugin_step& step, const Settings& settings, Host& host,
             std::span<std::byte> input)
    : step_(step), settings_(settings), host_(host), input_(input) {
  const FieldViews inputs(settings.inputs);
  const echoline_plugin_request request{.size = sizeof request,
                                        .settings = settings.settings.c_str(),
                                        .input_count = inputs.size(),
                                        .inputs = inputs.list()};
  const int status = call_plugin(step.create, host.functions(), &request, &instance_);
  if (status != ECHOLINE_PLUGIN_OK) throw Failure(host.failure_text(status));
}

Calls::~Calls() {
  if (step_.destroy != nullptr) call_plugin(step_.destroy, instance_);
}

void Calls::set_tensors(std::span<const shm::ArrayWords> places) {
  // Before addresses of its elements are taken.
  sizes_.assign(places.size() * kSizesOfInput, 0);
  tensors_.clear();
  for (std::size_t i = 0; i < places.size(); ++i) {
    const shm::ArrayWords& place = places[i];
    std::int64_t* const shape = sizes_.data() + i * kSizesOfInput;
    std::int64_t* const strides = shape + ECHOLINE_PLUGIN_AXES_MAX;
    std::int64_t stride = 1;
    for (std::uint32_t axis = place.rank; axis-- > 0;) {
      shape[axis] = place.sizes[axis];
      strides[axis] = stride;
      stride *= place.sizes[axis];
    }
    DLTensor tensor{};
    tensor.data = input_.data() + place.offset;
    tensor.device = {kDLCPU, 0};
    tensor.ndim = static_cast<int>(place.rank);
    tensor.dtype = dl_type(place.dtype);
    tensor.shape = shape;
    tensor.strides = strides;
    tensors_.push_back(tensor);
  }
}

std::vector<std::byte> Calls::answer(std::span<const std::byte> message) {
  const auto head = read_at<shm::CallHead>(message, 0);
  host_.begin_message();
  std::vector<shm::ArrayWords> results;
  for (std::uint32_t i = 0; i < head.samples; ++i) {
    const std::optional<SampleFailure> failure = run_sample(message, head, i);
    if (!failure) {
      results.insert(results.end(), host_.results().begin(), host_.results().end());
      continue;
    }
    if (i == 0) return text_reply(failure->kind, head.sequence, failure->text, failure->text);
    // The daemon calls it again for this sample, and takes what comes of that.
    break;
  }
  const shm::ReplyHead reply{.kind = static_cast<std::uint32_t>(shm::ReplyKind::kResult),
                             .count = static_cast<std::uint32_t>(results.size()),
                             .sequence = head.sequence};
  std::vector<std::byte> answer;
  append(answer, &reply, sizeof reply);
  append(answer, results.data(), results.size() * sizeof results[0]);
  return answer;
}

std::optional<Calls::SampleFailure> Calls::run_sample(std::span<const std::byte> message,
                                                      const shm::CallHead& head,
                                                      std::uint32_t sample) {
  const auto words = read_at<shm::KeyWords>(message, sizeof head + sample * sizeof(shm::KeyWords));
  const std::size_t begin = sizeof head + head.samples * sizeof words +
                            std::size_t{sample} * head.inputs * sizeof(shm::ArrayWords);
  std::vector<shm::ArrayWords> places;
  for (std::size_t i = 0; i < head.inputs; ++i)
    places.push_back(read_at<shm::ArrayWords>(message, begin + i * sizeof(shm::ArrayWords)));
  set_tensors(places);
  host_.begin_sample(settings_.inputs, settings_.outputs, places);
  const echoline_plugin_key key{.size = sizeof key,
                                .seed = head.seed,
                                .sample = words.sample,
                                .epoch = words.epoch,
                                .use = words.use,
                                .step = settings_.number,
                                .random = words.drawn};
  const echoline_plugin_call call{
      .size = sizeof call, .key = &key, .input_count = tensors_.size(), .inputs = tensors_.data()};
  const int status = call_plugin(step_.run, host_.functions(), instance_, &call);
  if (status == ECHOLINE_PLUGIN_BROKEN) {
    std::fprintf(stderr, "the plugin is broken: %s\n", host_.failure_text(status).c_str());
    ::_exit(1);
  }
  if (status != ECHOLINE_PLUGIN_OK && host_.refusal().empty())
    return SampleFailure{shm::ReplyKind::kRaised, host_.failure_text(status)};
  const std::string reason = host_.unfinished();
  if (reason.empty()) return std::nullopt;
  return SampleFailure{shm::ReplyKind::kRefused, reason};
}

}  // namespace echoline::plugin_runner
