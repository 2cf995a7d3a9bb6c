// Unpacks one part of an object into an unnamed file: a compressed object as a whole, or a part
// that can only be decoded as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/status.h"
#include "record/index/content_file.h"
#include "record/index/unpacked_part.h"
#include "source/core/source.h"

namespace echoline::record {

// Single-threaded. Invariant: [0, unpacked()) of the file are the first unpacked bytes of the part.
class UnpackedFile {
 public:
  // Pieces are read in order, at most kPiecesMax at a time. Their addresses stay valid while they
  // are in flight.
  struct Piece {
    std::uint64_t offset = 0;
    Buffer bytes;
    bool landed = false;
    source::EqualAnswers answers{0};  // those so far
  };
  static constexpr std::size_t kPiecesMax = 4;
  static constexpr std::uint64_t kPieceBytes = 1 << 20;

  static Result<std::unique_ptr<UnpackedFile>> create(const std::string& folder,
                                                      source::ObjectInfo object,
                                                      const UnpackedPart& part);
  // Each piece is read until two answers are equal. Call it before the first piece.
  void be_careful() { answers_needed_ = 2; }

  const source::ObjectInfo& object() const { return object_; }
  const UnpackedPart& part() const { return part_; }
  std::uint64_t bytes() const { return part_.form.bytes; }
  std::uint64_t unpacked() const { return unpacked_; }
  bool complete() const { return unpacked_ == bytes(); }

  // The next piece to read; null if enough are in flight or none is left.
  Piece* next_piece();
  // Number of pieces in flight.
  std::size_t reading() const;
  // Whether advance() can unpack a piece.
  bool has_landed() const { return !pieces_.empty() && pieces_.front().landed; }
  // Unpacks the next piece if it has landed; false if not. kDataLoss and kFailedPrecondition if the
  // object differs from the indexed one, kResourceExhausted for a full disk.
  Result<bool> advance();
  // Reads bytes below unpacked().
  Status read(std::uint64_t offset, std::span<std::byte> into) const {
    return content_.read(offset, into);
  }

 private:
  UnpackedFile(source::ObjectInfo object, const UnpackedPart& part, ContentFile content);

  const source::ObjectInfo object_;
  const UnpackedPart& part_;
  ContentFile content_;
  std::unique_ptr<PartUnpacker> unpacker_;
  std::deque<Piece> pieces_;  // a deque, so that pieces do not move
  std::uint32_t answers_needed_ = 0;
  std::vector<ByteRange> unread_;  // of the object; the next one is last
  std::uint64_t unpacked_ = 0;
};

}  // namespace echoline::record
