#include "prepare/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/crc.h"
#include "base/lies_in.h"
#include "decode/object_runs.h"

namespace echoline::prepare {
namespace {

constexpr std::uint32_t kMagic = 0x66736c65;  // "elsf"
constexpr std::uint64_t kFieldsMax = 4096;

// All numbers are little-endian, as on every machine that the daemon runs on.
struct Header {
  std::uint32_t magic = kMagic;
  std::uint32_t checksum = 0;  // CRC-32C of all bytes after this word
  std::uint64_t record = 0;
  std::uint32_t epoch = 0;
  std::uint32_t code = 0;          // 0: a sample; else why the record is bad, a Code
  std::uint32_t fields = 0;        // tensors after the header
  std::uint32_t reason_bytes = 0;  // of the text after the header, of a bad record
};
static_assert(sizeof(Header) == 32);

struct FieldHeader {
  std::uint32_t dtype = 0;
  std::uint32_t rank = 0;
  std::uint32_t sizes[decode::kRankMax] = {};
  std::uint64_t bytes = 0;
};
static_assert(sizeof(FieldHeader) == 40);

Status malformed(std::string why) {
  return {Code::kDataLoss, "the frame of a sample " + std::move(why)};
}

// Takes the bytes of `T` from the front.
template <typename T>
bool take(std::span<const std::byte>& rest, T& value) {
  if (rest.size() < sizeof value) return false;
  std::memcpy(&value, rest.data(), sizeof value);
  rest = rest.subspan(sizeof value);
  return true;
}

// A source is kept for a tensor only if the tensor is at least this part of it: a label must not
// keep the bytes of its picture.
constexpr std::size_t kKeptShare = 8;

Frame::Part owned(Buffer bytes) {
  auto owner = std::make_shared<const Buffer>(std::move(bytes));
  const auto span = owner->span();
  return {span, std::move(owner)};
}

// Writes the checksum of all other bytes into the head, and puts it before the other parts.
void seal(Frame& frame, Buffer head) {
  std::uint32_t crc = crc32c(0, head.span().subspan(kChecksummedFrom));
  for (const Frame::Part& part : frame.parts) crc = crc32c(crc, part.bytes);
  std::memcpy(head.data() + offsetof(Header, checksum), &crc, sizeof crc);
  frame.parts.insert(frame.parts.begin(), owned(std::move(head)));
}

Frame::Part part_of(decode::Tensor& tensor, const std::shared_ptr<const Buffer>& source) {
  if (!tensor.borrowed) return owned(std::move(tensor.bytes));
  const std::span<const std::byte> bytes = *tensor.borrowed;
  const bool may_stay = source != nullptr && bytes.size() >= source->size() / kKeptShare &&
                        lies_in(bytes, source->span());
  if (may_stay) return {bytes, source};
  Buffer copy(bytes.size());
  std::copy_n(bytes.data(), bytes.size(), copy.data());
  return owned(std::move(copy));
}

// The product of the sizes, or nothing where no sample can be so large.
std::uint64_t checked_bytes(const decode::Shape& shape, std::uint32_t dtype) {
  constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 32;
  std::uint64_t bytes = shm::dtype_bytes(dtype);
  for (const std::uint32_t size : shape.span()) {
    if (size != 0 && bytes > kBytesMax / size) return UINT64_MAX;
    bytes *= size;
  }
  return bytes;
}

Status check_objects(const decode::FieldType& type, const decode::Tensor& tensor) {
  decode::ObjectRuns masks;
  if (load(tensor, masks).ok() && masks.objects <= type.objects_max) return {};
  return malformed(fmt::format("has impossible masks of objects for field {}", type.name));
}

Status open_field(const decode::FieldType& type, const FieldHeader& header,
                  std::span<const std::byte>& rest, decode::Tensor& tensor) {
  if (header.dtype != type.dtype || header.rank > decode::kRankMax) {
    return malformed(fmt::format("has another type for field {}", type.name));
  }
  tensor = {};
  tensor.dtype = type.dtype;
  tensor.shape.rank = header.rank;
  for (std::uint32_t i = 0; i < decode::kRankMax; ++i) {
    if (i >= header.rank && header.sizes[i] != 0) {
      return malformed(fmt::format("has more sizes than dimensions for field {}", type.name));
    }
    tensor.shape.sizes[i] = header.sizes[i];
  }
  if (!decode::fits(type, tensor.shape)) {
    return malformed(fmt::format("has an impossible shape for field {}", type.name));
  }
  if (checked_bytes(tensor.shape, header.dtype) != header.bytes || header.bytes > rest.size()) {
    return malformed(fmt::format("has {} bytes for field {}, which are not those of its shape",
                                 header.bytes, type.name));
  }
  tensor.borrowed = rest.first(header.bytes);
  rest = rest.subspan(header.bytes);
  return type.objects_max > 0 ? check_objects(type, tensor) : Status();
}

// The codes that a decoder uses for bad records, and the one for a changed object.
bool is_record_code(std::uint32_t code) {
  switch (static_cast<Code>(code)) {
    case Code::kInvalidArgument:
    case Code::kNotFound:
    case Code::kResourceExhausted:
    case Code::kFailedPrecondition:
    case Code::kDataLoss:
    case Code::kUnimplemented:
      return true;
    default:
      return false;
  }
}

Status open_bad(const Header& header, std::span<const std::byte> rest, Content& content) {
  if (!is_record_code(header.code) || header.fields != 0 || header.reason_bytes > kReasonBytesMax ||
      header.reason_bytes != rest.size()) {
    return malformed("has an impossible verdict on its record");
  }
  std::string reason(reinterpret_cast<const char*>(rest.data()), rest.size());
  // It appears in logs.
  std::replace_if(
      reason.begin(), reason.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  content.bad = Status(static_cast<Code>(header.code), std::move(reason));
  return {};
}

}  // namespace

std::size_t Frame::bytes() const {
  std::size_t sum = 0;
  for (const Part& part : parts) sum += part.bytes.size();
  return sum;
}

Frame make_frame(const SampleKey& key, decode::Sample& sample,
                 const std::shared_ptr<const Buffer>& source) {
  Frame frame;
  Header header;
  header.record = key.record;
  header.epoch = key.epoch;
  header.fields = static_cast<std::uint32_t>(sample.tensors.size());
  Buffer head(sizeof header + sample.tensors.size() * sizeof(FieldHeader));
  std::memcpy(head.data(), &header, sizeof header);
  std::size_t offset = sizeof header;
  for (decode::Tensor& tensor : sample.tensors) {
    ECHOLINE_CHECK(!tensor.part);
    FieldHeader field;
    field.dtype = tensor.dtype;
    field.rank = tensor.shape.rank;
    for (std::uint32_t i = 0; i < tensor.shape.rank; ++i) field.sizes[i] = tensor.shape.sizes[i];
    field.bytes = tensor.content().size();
    std::memcpy(head.data() + offset, &field, sizeof field);
    offset += sizeof field;
    if (field.bytes > 0) frame.parts.push_back(part_of(tensor, source));
  }
  seal(frame, std::move(head));
  return frame;
}

Frame make_frame(const SampleKey& key, const Status& why) {
  Header header;
  header.record = key.record;
  header.epoch = key.epoch;
  header.code = static_cast<std::uint32_t>(
      is_record_code(static_cast<std::uint32_t>(why.code())) ? why.code() : Code::kInvalidArgument);
  header.reason_bytes = static_cast<std::uint32_t>(std::min(why.message().size(), kReasonBytesMax));
  Frame frame;
  Buffer whole(sizeof header + header.reason_bytes);
  std::memcpy(whole.data(), &header, sizeof header);
  std::memcpy(whole.data() + sizeof header, why.message().data(), header.reason_bytes);
  seal(frame, std::move(whole));
  return frame;
}

bool agrees(std::span<const std::byte> frame, std::uint32_t crc) {
  std::uint32_t checksum = 0;
  if (frame.size() < sizeof(Header)) return false;
  std::memcpy(&checksum, frame.data() + offsetof(Header, checksum), sizeof checksum);
  return checksum == crc;
}

Status open_frame(std::span<const std::byte> frame, const SampleKey& key,
                  const std::vector<decode::FieldType>& fields, Content& content) {
  content.bad = {};
  std::span<const std::byte> rest = frame;
  Header header;
  if (!take(rest, header) || header.magic != kMagic) return malformed("is none");
  if (header.record != key.record || header.epoch != key.epoch) {
    return malformed(fmt::format("is of record {} of epoch {}, where {} of {} was asked for",
                                 header.record, header.epoch, key.record, key.epoch));
  }
  if (header.code != 0) return open_bad(header, rest, content);
  if (header.fields != fields.size() || header.reason_bytes != 0 || header.fields > kFieldsMax) {
    return malformed(
        fmt::format("has {} fields; the pipeline has {}", header.fields, fields.size()));
  }
  std::span<const std::byte> heads = rest;
  if (rest.size() < fields.size() * sizeof(FieldHeader)) return malformed("is cut short");
  rest = rest.subspan(fields.size() * sizeof(FieldHeader));
  content.sample.tensors.resize(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    FieldHeader field;
    take(heads, field);
    ECHOLINE_TRY(open_field(fields[i], field, rest, content.sample.tensors[i]));
  }
  return rest.empty() ? Status() : malformed("has bytes after its last field");
}

}  // namespace echoline::prepare
