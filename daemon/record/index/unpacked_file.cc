#include "record/index/unpacked_file.h"

#include <algorithm>
#include <utility>

namespace echoline::record {

Result<std::unique_ptr<UnpackedFile>> UnpackedFile::create(const std::string& folder,
                                                           source::ObjectInfo object,
                                                           const UnpackedPart& part) {
  ECHOLINE_ASSIGN(ContentFile content, ContentFile::create(folder));
  return std::unique_ptr<UnpackedFile>(
      new UnpackedFile(std::move(object), part, std::move(content)));
}

UnpackedFile::UnpackedFile(source::ObjectInfo object, const UnpackedPart& part, ContentFile content)
    : object_(std::move(object)),
      part_(part),
      content_(std::move(content)),
      unread_(part.ranges.rbegin(), part.ranges.rend()) {
  unpacker_ = part.make_unpacker ? part.make_unpacker() : make_stream_unpacker(part.form);
  if (unread_.empty()) unread_.push_back({0, object_.bytes});
}

UnpackedFile::Piece* UnpackedFile::next_piece() {
  // Bounds what is ahead of the unpacker: a fast store must not fill the memory.
  if (pieces_.size() >= kPiecesMax || unread_.empty()) return nullptr;
  ByteRange& range = unread_.back();
  Piece& piece = pieces_.emplace_back();
  piece.offset = range.offset;
  piece.answers = source::EqualAnswers(answers_needed_);
  piece.bytes.resize(std::min(kPieceBytes, range.bytes));
  range.offset += piece.bytes.size();
  range.bytes -= piece.bytes.size();
  if (range.bytes == 0) unread_.pop_back();
  return &piece;
}

std::size_t UnpackedFile::reading() const {
  return static_cast<std::size_t>(
      std::count_if(pieces_.begin(), pieces_.end(), [](const Piece& p) { return !p.landed; }));
}

Result<bool> UnpackedFile::advance() {
  if (pieces_.empty() || !pieces_.front().landed) return false;
  const bool last = pieces_.size() == 1 && unread_.empty();
  ECHOLINE_ASSIGN(unpacked_, unpacker_->take(pieces_.front().bytes.span(), last, content_));
  pieces_.pop_front();
  return true;
}

}  // namespace echoline::record
