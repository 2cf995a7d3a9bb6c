#include "user_code/message.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/utf8.h"

namespace echoline::user_code {
namespace {

using shm::ArrayWords, shm::CallHead, shm::KeyWords, shm::ReplyHead;
static_assert(shm::kWorkerAxesMax == decode::kRankMax);

constexpr std::size_t kArraysMax = kMessageBytesMax / sizeof(ArrayWords);

// The caller has checked that there is room.
template <typename T>
void write_at(std::vector<std::byte>& message, std::size_t offset, const T& value) {
  std::memcpy(message.data() + offset, &value, sizeof value);
}

// The caller has checked that the bytes are there.
template <typename T>
T read_at(std::span<const std::byte> message, std::size_t offset) {
  T value;
  std::memcpy(&value, message.data() + offset, sizeof value);
  return value;
}

Status wrong(std::string text) { return Status(Code::kInvalidArgument, std::move(text)); }

Result<ArrayPlace> place_of(const ArrayWords& words) {
  ArrayPlace place{.dtype = words.dtype, .shape = {}, .offset = words.offset};
  if (words.rank > decode::kRankMax) return wrong("an array with too many axes");
  place.shape.rank = words.rank;
  // Bounds the product, which is computed in 64 bits.
  std::uint64_t left = std::numeric_limits<std::uint32_t>::max();
  for (std::uint32_t i = 0; i < words.rank; ++i) {
    if (words.sizes[i] > left) return wrong("an array with too many elements");
    left /= std::max(1U, words.sizes[i]);
    place.shape.sizes[i] = words.sizes[i];
  }
  return place;
}

// Takes the text up to the next zero byte.
std::string next_text(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\0'), rest.size());
  std::string text = to_utf8(rest.substr(0, end));
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return text;
}

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

KeyWords key_words(const UseKey& key, std::uint8_t step) {
  SampleRandom random(key, step);
  const std::uint64_t low = random.next_u32();
  const std::uint64_t high = random.next_u32();
  return {.sample = key.sample, .epoch = key.epoch, .use = key.use, .drawn = high << 32 | low};
}

ArrayWords array_words(const ArrayPlace& place) {
  ArrayWords words{.dtype = place.dtype, .rank = place.shape.rank, .offset = place.offset};
  std::copy(place.shape.sizes.begin(), place.shape.sizes.end(), std::begin(words.sizes));
  return words;
}

}  // namespace

std::size_t samples_in_message(std::size_t inputs, std::size_t outputs) {
  const std::size_t bytes = sizeof(KeyWords) + std::max(inputs, outputs) * sizeof(ArrayWords);
  return std::min(kSamplesMax, (kMessageBytesMax - sizeof(CallHead)) / bytes);
}

Result<Layout> lay_out(std::span<const SampleCall> samples,
                       const std::vector<decode::FieldType>& inputs, bool stacked,
                       std::uint64_t bytes_max) {
  Layout layout;
  layout.places.resize(samples.size() * inputs.size());
  for (std::size_t input = 0; input < inputs.size(); ++input) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const decode::Tensor& tensor = *samples[i].arguments[input];
      layout.places[i * inputs.size() + input] = {
          .dtype = tensor.dtype, .shape = tensor.shape, .offset = layout.bytes};
      layout.bytes += tensor.content().size();
      if (!stacked || !inputs[input].fixed) layout.bytes = aligned(layout.bytes);
    }
    layout.bytes = aligned(layout.bytes);
  }
  if (layout.bytes <= bytes_max) return layout;
  const std::string what =
      samples.size() == 1 ? "a sample" : fmt::format("{} samples", samples.size());
  return Status(Code::kResourceExhausted,
                fmt::format("{} of {} bytes: more than the step's sample_bytes, {}", what,
                            layout.bytes, bytes_max));
}

std::vector<std::byte> encode_call(std::uint64_t sequence, std::uint8_t step,
                                   std::span<const SampleCall> samples,
                                   std::span<const ArrayPlace> places) {
  std::size_t end = sizeof(CallHead);
  std::vector<std::byte> message(end + samples.size() * sizeof(KeyWords) +
                                 places.size() * sizeof(ArrayWords));
  write_at(message, 0,
           CallHead{.samples = static_cast<std::uint32_t>(samples.size()),
                    .sequence = sequence,
                    .seed = samples.front().key.seed,
                    .inputs = static_cast<std::uint32_t>(places.size() / samples.size())});
  for (const SampleCall& sample : samples) {
    write_at(message, end, key_words(sample.key, step));
    end += sizeof(KeyWords);
  }
  for (const ArrayPlace& place : places) {
    write_at(message, end, array_words(place));
    end += sizeof(ArrayWords);
  }
  return message;
}

Result<Reply> decode_reply(std::span<const std::byte> message) {
  if (message.size() < sizeof(ReplyHead)) return wrong("a message that is too short");
  const auto head = read_at<ReplyHead>(message, 0);
  Reply reply{.kind = static_cast<ReplyKind>(head.kind), .sequence = head.sequence};
  const std::span<const std::byte> rest = message.subspan(sizeof head);
  switch (reply.kind) {
    case ReplyKind::kResult:
      if (head.count > kArraysMax || rest.size() != head.count * sizeof(ArrayWords))
        return wrong("a result of a wrong length");
      for (std::size_t i = 0; i < head.count; ++i) {
        ECHOLINE_ASSIGN(ArrayPlace place,
                        place_of(read_at<ArrayWords>(rest, i * sizeof(ArrayWords))));
        reply.arrays.push_back(place);
      }
      return reply;
    case ReplyKind::kRaised:
    case ReplyKind::kRefused:
    case ReplyKind::kReady:
    case ReplyKind::kNotLoaded: {
      std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
      if (reply.kind == ReplyKind::kReady) {
        reply.length = head.sequence;
        reply.threads = head.count;
      }
      reply.group = next_text(text);
      reply.summary = next_text(text);
      reply.details = next_text(text);
      return reply;
    }
  }
  return wrong("a message of an unknown kind");
}

Status check_type(std::uint32_t dtype, const decode::Shape& shape, const decode::FieldType& type) {
  if (dtype != type.dtype) {
    return wrong(fmt::format("field {} has the type {}; the step declares {}", type.name,
                             shm::dtype_name(dtype), shm::dtype_name(type.dtype)));
  }
  if (decode::fits(type, shape)) return {};
  return wrong(fmt::format("field {} has the shape [{}], which the step does not declare",
                           type.name, fmt::join(shape.span(), ", ")));
}

Status check_array(const ArrayPlace& place, const decode::FieldType& type, std::uint64_t bytes) {
  ECHOLINE_TRY(check_type(place.dtype, place.shape, type));
  if (place.offset <= bytes && place.bytes() <= bytes - place.offset) return {};
  return wrong(fmt::format("field {} is not within the shared memory", type.name));
}

}  // namespace echoline::user_code
