// A step's kind is its oneof case. The steps before `echo` determine the echo point.
#include "config/pipeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace echoline::config {
namespace {

const v1::Step* find_step(const v1::Stream& stream, v1::Step::StepCase wanted) {
  const auto& steps = stream.pipeline();
  const auto found = std::find_if(steps.begin(), steps.end(), [wanted](const v1::Step& step) {
    return step.step_case() == wanted;
  });
  return found == steps.end() ? nullptr : &*found;
}

// For steps that check_structure has made sure of.
const v1::Step& required_step(const v1::Stream& stream, v1::Step::StepCase wanted) {
  const v1::Step* step = find_step(stream, wanted);
  ECHOLINE_CHECK(step != nullptr);
  return *step;
}

// As complete() would fill it in; for streams that were not completed.
const v1::Publish& default_publish() {
  static const v1::Publish publish = [] {
    v1::Publish value;
    value.set_slots(8);
    value.set_sealed(true);
    return value;
  }();
  return publish;
}

const v1::Decode& number_decode() {
  static const v1::Decode decode = [] {
    v1::Decode value;
    v1::DecodeField& field = (*value.mutable_fields())["index"];
    field.set_key("index");
    field.set_as("int64");
    field.add_shape(1);
    return value;
  }();
  return decode;
}

}  // namespace

const v1::Read& read_step(const v1::Stream& stream) {
  return required_step(stream, v1::Step::kRead).read();
}

std::vector<const v1::Read*> reads_of(const v1::Stream& stream) {
  const v1::Mix* const mix = mix_step(stream);
  if (mix == nullptr) return {&read_step(stream)};
  std::vector<const v1::Read*> reads;
  for (const v1::MixSource& source : mix->sources()) reads.push_back(&source.read());
  return reads;
}

const v1::Mix* mix_step(const v1::Stream& stream) {
  const v1::Step* step = find_step(stream, v1::Step::kMix);
  return step == nullptr ? nullptr : &step->mix();
}

// No source of a mixture is a data set in Python.
bool reads_python(const v1::Stream& stream) { return reads_of(stream).front()->has_python(); }

std::string user_code_names(const v1::Stream& stream) {
  std::vector<std::string> names;
  const auto add = [&names](const std::string& name, const std::string& file) {
    names.push_back(name + " of " + file);
  };
  for (const v1::Step& step : stream.pipeline()) {
    if (step.has_read() && step.read().has_python())
      add(step.read().python().function(), step.read().python().file());
    if (step.has_python()) add(step.python().function(), step.python().file());
    if (step.has_plugin()) add(step.plugin().step(), step.plugin().library());
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

const v1::Decode& decode_step(const v1::Stream& stream) {
  if (reads_python(stream)) return number_decode();
  return required_step(stream, v1::Step::kDecode).decode();
}

const v1::Decode& decode_of(const v1::Stream& stream, std::size_t source) {
  const v1::Mix* const mix = mix_step(stream);
  if (mix == nullptr || !mix->sources(static_cast<int>(source)).has_decode()) {
    return decode_step(stream);
  }
  return mix->sources(static_cast<int>(source)).decode();
}

const v1::Batch& batch_step(const v1::Stream& stream) {
  return required_step(stream, v1::Step::kBatch).batch();
}

const v1::Publish& publish_step(const v1::Stream& stream) {
  const v1::Step* step = find_step(stream, v1::Step::kPublish);
  return step == nullptr ? default_publish() : step->publish();
}

const v1::Cache* cache_step(const v1::Stream& stream) {
  const v1::Step* step = find_step(stream, v1::Step::kCache);
  return step == nullptr ? nullptr : &step->cache();
}

bool caches_decoded(const v1::Stream& stream) {
  bool decoded = false;
  // Steps before the cache decide.
  for (const v1::Step& step : stream.pipeline()) {
    if (step.step_case() == v1::Step::kCache) return decoded;
    decoded = decoded || step.step_case() == v1::Step::kDecode;
  }
  return false;
}

bool caches_before_prepare(const v1::Stream& stream) {
  bool cached = false;
  for (const v1::Step& step : stream.pipeline()) {
    if (step.has_prepare()) return cached;
    cached = cached || step.has_cache();
  }
  return false;
}

v1::Stream with_own_cache(const v1::Stream& stream, bool serves) {
  if (prepare_step(stream) == nullptr || caches_before_prepare(stream) == serves) return stream;
  v1::Stream own = stream;
  own.clear_pipeline();
  for (const v1::Step& step : stream.pipeline()) {
    if (!step.has_cache()) *own.add_pipeline() = step;
  }
  return own;
}

v1::Stream up_to_prepare(const v1::Stream& stream) {
  v1::Stream part = stream;
  part.clear_pipeline();
  for (const v1::Step& step : stream.pipeline()) {
    *part.add_pipeline() = step;
    if (step.has_prepare()) break;
  }
  return part;
}

const v1::Prepare* prepare_step(const v1::Stream& stream) {
  const v1::Step* step = find_step(stream, v1::Step::kPrepare);
  return step == nullptr ? nullptr : &step->prepare();
}

const v1::Shuffle* shuffle_step(const v1::Stream& stream) {
  const v1::Step* step = find_step(stream, v1::Step::kShuffle);
  return step == nullptr ? nullptr : &step->shuffle();
}

const v1::Echo* echo_step(const v1::Stream& stream) {
  const v1::Step* step = find_step(stream, v1::Step::kEcho);
  return step == nullptr ? nullptr : &step->echo();
}

EchoPlace echo_place(const v1::Stream& stream) {
  // At the beginning only records have been made.
  EchoPlace before = EchoPlace::kRecord;
  bool found = false;
  for (const v1::Step& step : stream.pipeline()) {
    // Uses are made of samples if augmentations follow, also where others come before.
    if (found && is_augmentation(step.step_case()) && before == EchoPlace::kAugmented) {
      return EchoPlace::kSample;
    }
    if (found) continue;
    found = step.step_case() == v1::Step::kEcho;
    if (step.step_case() == v1::Step::kDecode) before = EchoPlace::kSample;
    // A data set in Python makes samples as an augmentation does.
    if (step.read().has_python()) before = EchoPlace::kAugmented;
    if (is_augmentation(step.step_case())) before = EchoPlace::kAugmented;
    if (step.step_case() == v1::Step::kBatch) before = EchoPlace::kBatch;
  }
  return found ? before : EchoPlace::kNone;
}

std::string_view to_string(EchoPlace place) {
  switch (place) {
    case EchoPlace::kNone:
      return "none";
    case EchoPlace::kRecord:
      return "record";
    case EchoPlace::kSample:
      return "sample";
    case EchoPlace::kAugmented:
      return "augmented";
    case EchoPlace::kBatch:
      return "batch";
  }
  return "none";
}

bool echo_is_auto(const v1::Stream& stream) {
  const v1::Echo* echo = echo_step(stream);
  return echo != nullptr && echo->factor() == 0;
}

std::uint32_t echo_factor(const v1::Stream& stream) {
  const v1::Echo* echo = echo_step(stream);
  return echo == nullptr || echo_is_auto(stream) ? 1000 : echo->factor();
}

std::uint32_t echo_factor_max(const v1::Stream& stream) {
  const v1::Echo* echo = echo_step(stream);
  // `max` is 0 if it is not set.
  return echo == nullptr ? 1000 : std::max(echo->max(), echo->factor());
}

bool is_augmentation(v1::Step::StepCase step) {
  switch (step) {
    // All kinds that are no augmentations; a new augmentation needs no line here.
    case v1::Step::kRead:
    case v1::Step::kMix:
    case v1::Step::kCache:
    case v1::Step::kShuffle:
    case v1::Step::kDecode:
    case v1::Step::kEcho:
    case v1::Step::kBatch:
    case v1::Step::kPublish:
    case v1::Step::kPrepare:
    case v1::Step::STEP_NOT_SET:
      return false;
    default:
      return true;
  }
}

std::string_view step_name(v1::Step::StepCase step) {
  const google::protobuf::FieldDescriptor* field =
      // The oneof's field has the name of the key.
      v1::Step::descriptor()->FindFieldByNumber(static_cast<int>(step));
  return field == nullptr ? std::string_view("nothing") : std::string_view(field->name());
}

}  // namespace echoline::config
