// Writes the content of a compressed stream from its start on.
#include <fmt/core.h>

#include <memory>
#include <utility>
#include <vector>

#include "record/index/unpacked_part.h"
#include "record/index/unpacker.h"

namespace echoline::record {
namespace {

constexpr std::size_t kStreamChunkBytes = 256 << 10;

class StreamUnpacker final : public PartUnpacker {
 public:
  explicit StreamUnpacker(UnpackedForm form) : form_(form) {}
  Result<std::uint64_t> take(std::span<const std::byte> piece, bool last,
                             ContentFile& content) override;

 private:
  Status write(std::span<const std::byte> bytes, ContentFile& content);

  const UnpackedForm form_;
  std::unique_ptr<Unpacker> unpacker_;
  std::vector<std::byte> chunk_;
  std::uint64_t unpacked_ = 0;
};

Result<std::uint64_t> StreamUnpacker::take(std::span<const std::byte> piece, bool last,
                                           ContentFile& content) {
  // The first bytes say which compression it is.
  if (!unpacker_) {
    ECHOLINE_ASSIGN(unpacker_, Unpacker::make(piece, form_.compression));
    chunk_.resize(kStreamChunkBytes);
  }
  while (true) {
    ECHOLINE_ASSIGN(const std::size_t count, unpacker_->unpack(piece, chunk_));
    ECHOLINE_TRY(write(std::span<const std::byte>(chunk_).first(count), content));
    // A chunk that is not full means that the piece is used up.
    if (count < chunk_.size()) break;
  }
  // The object ends before the indexed size: it is not the indexed object.
  if (last && unpacked_ != form_.bytes) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("it unpacks to {} bytes where the index says {}: it has changed",
                              unpacked_, form_.bytes));
  }
  return unpacked_;
}

Status StreamUnpacker::write(std::span<const std::byte> bytes, ContentFile& content) {
  if (bytes.size() > form_.bytes - unpacked_) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("it unpacks to more than the {} bytes that the index says: it has "
                              "changed",
                              form_.bytes));
  }
  ECHOLINE_TRY(content.write(unpacked_, bytes));
  unpacked_ += bytes.size();
  return {};
}

}  // namespace

std::unique_ptr<PartUnpacker> make_stream_unpacker(UnpackedForm form) {
  return std::make_unique<StreamUnpacker>(form);
}

}  // namespace echoline::record
