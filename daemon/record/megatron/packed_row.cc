#include "record/megatron/packed_row.h"

#include <fmt/core.h>

#include <cstring>
#include <string_view>
#include <utility>

#include "record/core/fields.h"

namespace echoline::record {
namespace {

// One field of the row, in the scratch.
template <typename T>
class Column {
 public:
  // Takes the next part of `room`.
  Column(std::string_view name, std::uint32_t length, std::span<std::byte>& room, Fields& fields)
      : at_(room.data()) {
    fields.fields.push_back({name, room.first(length * sizeof(T))});
    room = room.subspan(length * sizeof(T));
  }
  // The scratch is not aligned for T.
  void set(std::size_t place, T value) {
    std::memcpy(at_ + place * sizeof(T), &value, sizeof value);
  }

 private:
  std::byte* at_;
};

struct Row {
  Row(std::uint32_t length, std::span<std::byte> room, Fields& fields)
      : tokens("tokens", length, room, fields),
        labels("labels", length, room, fields),
        positions("positions", length, room, fields),
        segments("segments", length, room, fields),
        loss_mask("loss_mask", length, room, fields) {}
  static constexpr std::size_t kBytesEach = 4 + 8 + 4 + 4 + 1;

  Column<std::int32_t> tokens;
  Column<std::int64_t> labels;
  Column<std::int32_t> positions;
  Column<std::int32_t> segments;
  Column<std::uint8_t> loss_mask;
};

template <typename T>
Status fill_pieces(const std::vector<Piece>& pieces, std::span<const std::byte> bytes, Row& row,
                   std::size_t& filled) {
  std::int32_t segment = 0;
  for (const Piece& piece : pieces) {
    ++segment;
    for (std::uint32_t i = 0; i < piece.tokens; ++i, ++filled) {
      T token;
      std::memcpy(&token, bytes.data() + filled * sizeof(T), sizeof token);
      if (!std::in_range<std::int32_t>(token)) {
        return Status(Code::kDataLoss, fmt::format("token {} does not fit into int32", token));
      }
      row.tokens.set(filled, static_cast<std::int32_t>(token));
      row.positions.set(filled, static_cast<std::int32_t>(i));
      row.segments.set(filled, segment);
      // It is the label of the place before, which has none if it ends here.
      if (i > 0) row.labels.set(filled - 1, token);
      row.labels.set(filled, kNoLabel);
      row.loss_mask.set(filled, i + 1 < piece.tokens ? 1 : 0);
    }
  }
  return {};
}

Status fill_typed(const ElementType& type, const std::vector<Piece>& pieces,
                  std::span<const std::byte> bytes, Row& row, std::size_t& filled) {
  const bool with_sign = type.kind == ElementKind::kSigned;
  switch (type.bytes) {
    case 1:
      return with_sign ? fill_pieces<std::int8_t>(pieces, bytes, row, filled)
                       : fill_pieces<std::uint8_t>(pieces, bytes, row, filled);
    case 2:
      return with_sign ? fill_pieces<std::int16_t>(pieces, bytes, row, filled)
                       : fill_pieces<std::uint16_t>(pieces, bytes, row, filled);
    case 4:
      return fill_pieces<std::int32_t>(pieces, bytes, row, filled);
    default:
      return fill_pieces<std::int64_t>(pieces, bytes, row, filled);
  }
}

}  // namespace

Status fill_packed_row(const RowForm& form, const ElementType& type,
                       const std::vector<Piece>& pieces, std::span<const std::byte> bytes,
                       Fields& fields) {
  std::uint64_t tokens = 0;
  for (const Piece& piece : pieces) tokens += piece.tokens;
  if (tokens > form.length || tokens * type.bytes != bytes.size()) {
    return Status(Code::kDataLoss, fmt::format("{} bytes for {} tokens", bytes.size(), tokens));
  }
  clear_fields(fields);
  fields.scratch.resize(form.length * Row::kBytesEach);
  Row row(form.length, std::as_writable_bytes(std::span(fields.scratch)), fields);
  std::size_t filled = 0;
  ECHOLINE_TRY(fill_typed(type, pieces, bytes, row, filled));
  for (; filled < form.length; ++filled) {
    row.tokens.set(filled, form.padding);
    row.labels.set(filled, kNoLabel);
    row.positions.set(filled, 0);
    row.segments.set(filled, 0);
    row.loss_mask.set(filled, 0);
  }
  return {};
}

}  // namespace echoline::record
