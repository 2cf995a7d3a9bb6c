// One compressed object on its way to a nameless file of unpacked bytes.
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

// Single-threaded. The file has no name: it goes with the process, also when that is killed.
// Invariant: [0, unpacked()) of the file are the first unpacked bytes of the object.
class UnpackedFile {
 public:
  // Pieces are read in order, at most kPiecesMax at a time; their addresses stay while they are in
  // flight.
  struct Piece {
    std::uint64_t offset = 0;
    std::vector<std::byte> bytes;
    bool landed = false;
  };
  static constexpr std::size_t kPiecesMax = 4;
  static constexpr std::uint64_t kPieceBytes = 1 << 20;

  // `bytes`: how many the object unpacks to.
  static Result<std::unique_ptr<UnpackedFile>> create(const std::string& folder,
                                                      source::ObjectInfo object,
                                                      std::uint64_t bytes);

  const source::ObjectInfo& object() const { return object_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t unpacked() const { return unpacked_; }
  bool complete() const { return unpacked_ == bytes_; }

  // The next piece to read; null while enough are in flight, or none is left.
  Piece* next_piece();
  // Pieces that are in flight.
  std::size_t reading() const;
  // Whether advance() has something to do.
  bool has_landed() const { return !pieces_.empty() && pieces_.front().landed; }
  // Unpacks one piece that has landed and whose turn it is; false if there is none. kDataLoss and
  // kFailedPrecondition for an object that is not what was indexed, kResourceExhausted for a full
  // disk.
  Result<bool> advance();
  // Bytes that have been unpacked already.
  Status read(std::uint64_t offset, std::span<std::byte> into) const;

 private:
  UnpackedFile(source::ObjectInfo object, std::uint64_t bytes, UniqueFd file)
      : object_(std::move(object)), bytes_(bytes), file_(std::move(file)) {}
  Status write(std::span<const std::byte> bytes);

  const source::ObjectInfo object_;
  const std::uint64_t bytes_;
  const UniqueFd file_;
  std::unique_ptr<Unpacker> unpacker_;
  std::deque<Piece> pieces_;  // grows at the end and shrinks at the front only
  std::vector<std::byte> chunk_;
  std::uint64_t next_offset_ = 0;  // in the object
  std::uint64_t unpacked_ = 0;
};

}  // namespace echoline::record
