// Written through the page cache: the bytes are usually read within seconds and freed before they
// reach the disk.
#include "record/index/unpacked_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace echoline::record {
namespace {

constexpr std::size_t kChunkBytes = 256 << 10;

}  // namespace

Result<std::unique_ptr<UnpackedFile>> UnpackedFile::create(const std::string& folder,
                                                           source::ObjectInfo object,
                                                           UnpackedForm form) {
  std::error_code error;
  // An error shows at mkostemp.
  std::filesystem::create_directories(folder, error);
  std::string name = folder + "/unpacked-XXXXXX";
  UniqueFd file(::mkostemp(name.data(), O_CLOEXEC));
  if (!file) return errno_status(errno, "cannot make a file to unpack to in " + folder);
  // The file lives as long as its descriptor.
  ::unlink(name.c_str());
  return std::unique_ptr<UnpackedFile>(new UnpackedFile(std::move(object), form, std::move(file)));
}

UnpackedFile::Piece* UnpackedFile::next_piece() {
  // Bounds what is ahead of the unpacker: a fast store must not fill the memory.
  if (pieces_.size() >= kPiecesMax || next_offset_ >= object_.bytes) return nullptr;
  Piece& piece = pieces_.emplace_back();
  piece.offset = next_offset_;
  piece.answers = source::EqualAnswers(answers_needed_);
  piece.bytes.resize(std::min(kPieceBytes, object_.bytes - next_offset_));
  next_offset_ += piece.bytes.size();
  return &piece;
}

std::size_t UnpackedFile::reading() const {
  return static_cast<std::size_t>(
      std::count_if(pieces_.begin(), pieces_.end(), [](const Piece& p) { return !p.landed; }));
}

Result<bool> UnpackedFile::advance() {
  if (pieces_.empty() || !pieces_.front().landed) return false;
  std::span<const std::byte> in = pieces_.front().bytes;
  // The first bytes say which compression it is.
  if (!unpacker_) {
    ECHOLINE_ASSIGN(unpacker_, Unpacker::make(in, form_.compression));
    chunk_.resize(kChunkBytes);
  }
  while (true) {
    ECHOLINE_ASSIGN(const std::size_t count, unpacker_->unpack(in, chunk_));
    ECHOLINE_TRY(write(std::span<const std::byte>(chunk_).first(count)));
    // A chunk that is not full means that the piece is used up.
    if (count < chunk_.size()) break;
  }
  pieces_.pop_front();
  // The object ends before the indexed size: it is not the indexed object.
  const bool all_read = pieces_.empty() && next_offset_ >= object_.bytes;
  if (all_read && !complete()) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("it unpacks to {} bytes where the index says {}: it has changed",
                              unpacked_, form_.bytes));
  }
  return true;
}

Status UnpackedFile::write(std::span<const std::byte> bytes) {
  if (bytes.size() > form_.bytes - unpacked_) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("it unpacks to more than the {} bytes that the index says: it has "
                              "changed",
                              form_.bytes));
  }
  while (!bytes.empty()) {
    const ssize_t count =
        ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(unpacked_));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_status(errno, "cannot unpack to disk");
    unpacked_ += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

Status UnpackedFile::read(std::uint64_t offset, std::span<std::byte> into) const {
  while (!into.empty()) {
    const ssize_t count =
        ::pread(file_.get(), into.data(), into.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    // Fewer bytes than were written: an error of the disk.
    if (count <= 0) return errno_status(count < 0 ? errno : EIO, "cannot read unpacked bytes");
    offset += static_cast<std::uint64_t>(count);
    into = into.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

}  // namespace echoline::record
