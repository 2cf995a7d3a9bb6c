#include "user_code/message.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/utf8.h"

namespace echoline::user_code {
namespace {

using shm::ArrayWords, shm::CallHead, shm::ReplyHead;
static_assert(shm::kWorkerAxesMax == decode::kRankMax);

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

}  // namespace

Result<std::vector<ArrayPlace>> lay_out(std::span<const decode::Tensor* const> tensors,
                                        std::uint64_t bytes_max) {
  std::vector<ArrayPlace> places;
  std::uint64_t end = 0;
  for (const decode::Tensor* tensor : tensors) {
    places.push_back({.dtype = tensor->dtype, .shape = tensor->shape, .offset = end});
    end += (tensor->content().size() + kAlignment - 1) / kAlignment * kAlignment;
  }
  if (end <= bytes_max) return places;
  return Status(
      Code::kResourceExhausted,
      fmt::format("a sample of {} bytes is more than the step's sample_bytes, {}", end, bytes_max));
}

std::vector<std::byte> encode_call(std::uint64_t sequence, const UseKey& key, std::uint8_t step,
                                   std::span<const ArrayPlace> arrays) {
  SampleRandom random(key, step);
  const std::uint64_t low = random.next_u32();
  const std::uint64_t high = random.next_u32();
  std::vector<std::byte> message(sizeof(CallHead) + arrays.size() * sizeof(ArrayWords));
  write_at(message, 0,
           CallHead{.count = static_cast<std::uint32_t>(arrays.size()),
                    .sequence = sequence,
                    .seed = key.seed,
                    .sample = key.sample,
                    .epoch = key.epoch,
                    .use = key.use,
                    .drawn = high << 32 | low});
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const decode::Shape& shape = arrays[i].shape;
    ArrayWords words{.dtype = arrays[i].dtype, .rank = shape.rank, .offset = arrays[i].offset};
    std::copy(shape.sizes.begin(), shape.sizes.end(), std::begin(words.sizes));
    write_at(message, sizeof(CallHead) + i * sizeof words, words);
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
      if (head.count > kFieldsMax || rest.size() != head.count * sizeof(ArrayWords))
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
      if (reply.kind == ReplyKind::kReady) reply.length = head.sequence;
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
