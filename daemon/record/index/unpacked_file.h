// Unpacks one compressed object into an unnamed file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/unique_fd.h"
#include "record/index/unpacker.h"
#include "source/core/source.h"

namespace echoline::record {

// What is known of a compressed object before it is unpacked.
struct UnpackedForm {
  std::uint64_t bytes = 0;  // unpacked
  Compression compression = Compression::kByContent;
};

// Single-threaded. The file has no name, so it disappears with the process, even if that is killed.
// Invariant: [0, unpacked()) of the file are the first unpacked bytes of the object.
class UnpackedFile {
 public:
  // Pieces are read in order, at most kPiecesMax at a time. Their addresses stay valid while they
  // are in flight.
  struct Piece {
    std::uint64_t offset = 0;
    std::vector<std::byte> bytes;
    bool landed = false;
    source::EqualAnswers answers{0};  // those so far
  };
  static constexpr std::size_t kPiecesMax = 4;
  static constexpr std::uint64_t kPieceBytes = 1 << 20;

  static Result<std::unique_ptr<UnpackedFile>> create(const std::string& folder,
                                                      source::ObjectInfo object, UnpackedForm form);
  // Each piece is read until two answers are equal. Call it before the first piece.
  void be_careful() { answers_needed_ = 2; }

  const source::ObjectInfo& object() const { return object_; }
  std::uint64_t bytes() const { return form_.bytes; }
  std::uint64_t unpacked() const { return unpacked_; }
  bool complete() const { return unpacked_ == form_.bytes; }

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
  Status read(std::uint64_t offset, std::span<std::byte> into) const;

 private:
  UnpackedFile(source::ObjectInfo object, UnpackedForm form, UniqueFd file)
      : object_(std::move(object)), form_(form), file_(std::move(file)) {}
  Status write(std::span<const std::byte> bytes);

  const source::ObjectInfo object_;
  const UnpackedForm form_;
  const UniqueFd file_;
  std::unique_ptr<Unpacker> unpacker_;
  std::deque<Piece> pieces_;  // a deque, so that pieces do not move
  std::vector<std::byte> chunk_;
  std::uint32_t answers_needed_ = 0;
  std::uint64_t next_offset_ = 0;  // of the next piece, in the object
  std::uint64_t unpacked_ = 0;
};

}  // namespace echoline::record
