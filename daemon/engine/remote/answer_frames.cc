// An answer is a protobuf message with one kind of field, whose values are large: they are copied
// once, from the pieces into the buffers that the items keep, and their checksum is computed with
// the copy.
#include "engine/remote/answer_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/crc.h"
#include "prepare/frame.h"

namespace echoline::engine {
namespace {

Status malformed(const char* why) {
  return {Code::kDataLoss, fmt::format("the answer of a preparation server {}", why)};
}

class PieceReader {
 public:
  explicit PieceReader(const AnswerPieces& pieces) : pieces_(pieces) {
    for (const auto& piece : pieces) left_ += piece.size();
  }
  std::uint64_t left() const { return left_; }

  // Copies as many bytes as `to` has; false if there are fewer. The checksum is of those from
  // `checked_from` on.
  bool copy(std::span<std::byte> to, std::size_t checked_from, std::uint32_t& crc) {
    if (to.size() > left_) return false;
    std::size_t done = 0;
    while (done < to.size()) {
      const auto rest = pieces_[piece_].subspan(offset_);
      const std::size_t count = std::min(rest.size(), to.size() - done);
      // Borders of the checksum are borders of copies.
      const std::size_t step = done < checked_from ? std::min(count, checked_from - done) : count;
      std::memcpy(to.data() + done, rest.data(), step);
      if (done >= checked_from) crc = crc32c(crc, to.subspan(done, step));
      done += step;
      advance(step);
    }
    return true;
  }

  // A number of at most 32 bits in protobuf's form.
  bool take_varint(std::uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 35; shift += 7) {
      std::byte byte{};
      std::uint32_t unused = 0;
      if (!copy({&byte, 1}, 1, unused)) return false;
      value |= (static_cast<std::uint64_t>(byte) & 0x7f) << shift;
      if ((static_cast<unsigned>(byte) & 0x80) == 0) return true;
    }
    return false;
  }

 private:
  void advance(std::size_t count) {
    offset_ += count;
    left_ -= count;
    while (piece_ < pieces_.size() && offset_ == pieces_[piece_].size()) {
      ++piece_;
      offset_ = 0;
    }
  }

  const AnswerPieces& pieces_;
  std::size_t piece_ = 0;
  std::size_t offset_ = 0;
  std::uint64_t left_ = 0;
};

}  // namespace

Result<std::vector<std::shared_ptr<Buffer>>> frames_of(
    const AnswerPieces& answer, const std::vector<std::uint64_t>& records,
    const std::vector<decode::FieldType>& fields) {
  AnswerPieces pieces;
  for (const auto& piece : answer) {
    if (!piece.empty()) pieces.push_back(piece);
  }
  PieceReader reader(pieces);
  std::vector<std::shared_ptr<Buffer>> frames;
  prepare::Content content;
  while (reader.left() > 0) {
    std::uint64_t tag = 0;
    std::uint64_t bytes = 0;
    if (!reader.take_varint(tag) || tag != prepare::kFramesTag || !reader.take_varint(bytes)) {
      return malformed("has another form");
    }
    // Before the buffer is allocated.
    if (bytes > reader.left()) return malformed("is cut short");
    if (frames.size() == records.size()) return malformed("has more samples than were asked for");
    const auto& frame = frames.emplace_back(std::make_shared<Buffer>(bytes));
    std::uint32_t crc = 0;
    if (!reader.copy(frame->span(), prepare::kChecksummedFrom, crc)) return malformed("ended");
    if (!prepare::agrees(frame->span(), crc)) {
      return malformed("has bytes that disagree with their checksum");
    }
    ECHOLINE_TRY(
        prepare::open_frame(frame->span(), {records[frames.size() - 1], 0}, fields, content));
  }
  if (frames.empty()) return malformed("has no sample");
  return frames;
}

}  // namespace echoline::engine
