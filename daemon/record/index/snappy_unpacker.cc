// The format: the unpacked length as a varint, then elements. An element is a tag, whose two low
// bits are its kind, up to four bytes of a number, and, for a literal, its bytes (google/snappy,
// format_description.txt).
#include "record/index/snappy_unpacker.h"

#include <algorithm>

namespace echoline::record {
namespace {

constexpr unsigned kLiteral = 0, kCopyNear = 1, kCopyFar = 2;
constexpr unsigned kInlineLengths = 60;  // longer literals have their length after the tag

Status damaged_snappy(std::string_view what) {
  return Status(Code::kDataLoss, "the compressed file is damaged (Snappy: " + std::string(what) +
                                     "): write it again");
}

// The bytes of the number after a tag.
std::size_t number_bytes(unsigned tag) {
  const unsigned kind = tag & 3, length = tag >> 2;
  if (kind == kLiteral) return length < kInlineLengths ? 0 : length - kInlineLengths + 1;
  return kind == kCopyNear ? 1 : kind == kCopyFar ? 2 : 4;
}

}  // namespace

Result<std::size_t> SnappyUnpacker::unpack(std::span<const std::byte>& in,
                                           std::span<std::byte> out) {
  const std::size_t room = out.size();
  while (true) {
    for (; copy_ > 0 && !out.empty(); --copy_) {
      emit(history_[(made_ - distance_) % kHistoryBytes], out);
    }
    for (; literal_ > 0 && !out.empty() && !in.empty(); --literal_) {
      emit(in.front(), out);
      in = in.subspan(1);
    }
    if (copy_ > 0 || literal_ > 0 || in.empty()) break;
    if (complete()) return damaged_snappy("bytes after its end");
    ECHOLINE_TRY(read_element(in));
  }
  return room - out.size();
}

void SnappyUnpacker::emit(std::byte byte, std::span<std::byte>& out) {
  out.front() = byte;
  out = out.subspan(1);
  history_[made_++ % kHistoryBytes] = byte;
}

// Takes the next byte of the length, or of an element's tag and number.
Status SnappyUnpacker::read_element(std::span<const std::byte>& in) {
  const std::byte next = in.front();
  in = in.subspan(1);
  if (!has_length_) return read_length(next);
  head_[head_bytes_++] = next;
  const std::size_t needed = 1 + number_bytes(std::to_integer<unsigned>(head_[0]));
  return head_bytes_ < needed ? Status() : start_element();
}

Status SnappyUnpacker::read_length(std::byte next) {
  const auto bits = std::to_integer<std::uint64_t>(next);
  length_ |= (bits & 127) << (7 * head_bytes_);
  if (++head_bytes_ > head_.size() || length_ > UINT32_MAX) return damaged_snappy("its length");
  if (bits > 127) return {};
  has_length_ = true;
  head_bytes_ = 0;
  return {};
}

Status SnappyUnpacker::start_element() {
  const auto tag = std::to_integer<unsigned>(head_[0]);
  std::uint64_t number = 0;
  for (std::size_t i = 1; i < head_bytes_; ++i) {
    number |= std::to_integer<std::uint64_t>(head_[i]) << (8 * (i - 1));
  }
  const bool is_literal = (tag & 3) == kLiteral;
  if (is_literal) {
    literal_ = (head_bytes_ == 1 ? tag >> 2 : number) + 1;
  } else {
    const bool near = (tag & 3) == kCopyNear;
    copy_ = near ? 4 + ((tag >> 2) & 7) : (tag >> 2) + 1;
    distance_ = near ? number | (tag >> 5) << 8 : number;
  }
  head_bytes_ = 0;
  if (literal_ + copy_ > length_ - made_) return damaged_snappy("more bytes than its length says");
  if (is_literal) return {};
  if (distance_ == 0 || distance_ > made_) return damaged_snappy("a copy from before its start");
  if (distance_ <= kHistoryBytes) return {};
  return Status(Code::kUnimplemented,
                "the Snappy file has copies over more than 64 KiB, which Snappy's own writer never "
                "makes: compress it again with that");
}

}  // namespace echoline::record
