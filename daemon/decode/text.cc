// Ragged fields, uint8 of rank 1: text, checked to be UTF-8, and bytes, unchanged.
#include <fmt/format.h>

#include <limits>

#include "base/utf8.h"
#include "decode/field.h"
#include "echoline/v1/config.pb.h"

namespace echoline::decode {
namespace {

constexpr std::uint64_t kBytesMaxDefault = 64 << 10;

class TextField final : public Field {
 public:
  TextField(bool utf8, std::uint32_t bytes_max) : utf8_(utf8), bytes_max_(bytes_max) {}

  FieldType type() const override {
    FieldType type;
    type.ragged = true;
    type.shape = {{bytes_max_}, 1};
    return type;
  }

  // An empty file is a valid value of length 0.
  Status read(std::span<const std::byte> bytes, Scratch&, Tensor& out) const override {
    if (bytes.size() > bytes_max_) {
      return {Code::kResourceExhausted,
              fmt::format("{} bytes are more than max_bytes, {}", bytes.size(), bytes_max_)};
    }
    if (utf8_) ECHOLINE_TRY(check_utf8(bytes));
    out.dtype = shm::kUint8;
    out.shape = {{static_cast<std::uint32_t>(bytes.size())}, 1};
    out.borrowed = bytes;
    return {};
  }

 private:
  static Status check_utf8(std::span<const std::byte> bytes) {
    const std::size_t valid = valid_utf8_bytes(bytes);
    if (valid == bytes.size()) return {};
    return {Code::kDataLoss,
            fmt::format("not UTF-8 from byte {} on: {}", valid, quoted(bytes.subspan(valid)))};
  }

  const bool utf8_;
  const std::uint32_t bytes_max_;
};

}  // namespace

FieldResult make_text_field(const v1::DecodeField& entry) {
  if (entry.shape_size() != 0) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} has no shape; its length differs", entry.as()));
  }
  const std::uint64_t bytes_max = entry.max_bytes() == 0 ? kBytesMaxDefault : entry.max_bytes();
  if (bytes_max > std::numeric_limits<std::uint32_t>::max()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("max_bytes is {}; less than 4 GiB is allowed", bytes_max));
  }
  return std::unique_ptr<Field>(
      new TextField(entry.as() == "text", static_cast<std::uint32_t>(bytes_max)));
}

}  // namespace echoline::decode
