#include "record/parquet/chunk_reader.h"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "record/parquet/levels.h"
#include "record/parquet/page_codec.h"

namespace echoline::record {
namespace {

constexpr std::uint64_t kHeaderGuess = 256;

Status wrong_page(std::string_view what) { return Status(Code::kDataLoss, std::string(what)); }

// Four bytes with their length come before levels of the first page version.
Result<HybridDecoder> take_levels(std::span<const std::byte>& bytes, std::uint32_t max,
                                  Encoding encoding) {
  if (max == 0) return HybridDecoder();
  if (encoding != Encoding::kRle) {
    return Status(Code::kUnimplemented, "levels in the deprecated encoding BIT_PACKED");
  }
  std::uint32_t count = 0;
  if (bytes.size() >= sizeof(count)) std::memcpy(&count, bytes.data(), sizeof(count));
  if (bytes.size() < sizeof(count) || count > bytes.size() - sizeof(count)) {
    return wrong_page("levels are longer than their page");
  }
  const HybridDecoder levels(bytes.subspan(sizeof(count), count), level_width(max));
  bytes = bytes.subspan(sizeof(count) + count);
  return levels;
}

}  // namespace

ChunkReader::ChunkReader(const Column& column, const ColumnChunk& chunk, std::uint64_t rows,
                         RowSink& sink)
    : column_(column),
      chunk_(chunk),
      needed_(std::min(kHeaderGuess, chunk.bytes)),
      rows_(column, rows, sink) {}

Result<std::uint64_t> ChunkReader::take(std::span<const std::byte> bytes) {
  bytes = bytes.first(std::min<std::uint64_t>(bytes.size(), chunk_.bytes - position_));
  auto taken = take_page(bytes);
  if (!taken.ok()) {
    return std::move(taken).status().with_context(
        fmt::format("column '{}', page at byte {}", column_.key, chunk_.offset + position_));
  }
  return taken;
}

Result<std::uint64_t> ChunkReader::take_page(std::span<const std::byte> bytes) {
  const std::uint64_t left = chunk_.bytes - position_;
  ECHOLINE_ASSIGN(const auto page, parse_page_header(bytes));
  if (!page && bytes.size() == left) return wrong_page("the column ends within a page header");
  if (!page) {
    needed_ =
        std::min<std::uint64_t>(left, std::max<std::uint64_t>(kHeaderGuess, 2 * bytes.size()));
    return std::uint64_t{0};
  }
  const std::uint64_t all = page->header_bytes + page->bytes;
  if (all > left) return wrong_page("the page ends behind its column");
  needed_ = all;
  if (bytes.size() < all) return std::uint64_t{0};
  ECHOLINE_TRY(read_page(*page, bytes.subspan(page->header_bytes, page->bytes)));
  position_ += all;
  needed_ = std::min(kHeaderGuess, chunk_.bytes - position_);
  if (done()) ECHOLINE_TRY(end());
  return all;
}

Status ChunkReader::read_page(const PageHeader& page, std::span<const std::byte> stored) {
  if (page.crc) {
    const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(stored.data()), stored.size());
    if (crc != *page.crc) return wrong_page("its checksum differs");
  }
  switch (page.kind) {
    case PageKind::kIndex:
      return {};
    case PageKind::kDictionary:
      return read_dictionary(page, stored);
    case PageKind::kData:
    case PageKind::kDataV2:
      return read_data(page, stored);
  }
  return {};
}

Result<std::span<const std::byte>> ChunkReader::unpack(const PageHeader& page,
                                                       std::span<const std::byte> stored,
                                                       std::size_t plain) {
  if (plain > page.unpacked_bytes || plain > stored.size()) {
    return wrong_page("levels are longer than their page");
  }
  stored = stored.subspan(plain);
  const std::size_t bytes = page.unpacked_bytes - plain;
  if (chunk_.codec == PageCodec::kUncompressed || !page.compressed) {
    if (bytes != stored.size()) return wrong_page("two sizes of a page that is not compressed");
    return stored;
  }
  unpacked_.resize(bytes);
  ECHOLINE_TRY(unpack_page(chunk_.codec, stored, unpacked_.span()));
  return std::span<const std::byte>(unpacked_.span());
}

Status ChunkReader::read_dictionary(const PageHeader& page, std::span<const std::byte> stored) {
  if (dictionary_ || has_data_) return wrong_page("a dictionary that is not the first page");
  if (page.encoding != Encoding::kPlain && page.encoding != Encoding::kPlainDictionary) {
    return wrong_page("a dictionary in another encoding than PLAIN");
  }
  ECHOLINE_ASSIGN(const auto bytes, unpack(page, stored, 0));
  Buffer kept;
  if (bytes.data() == unpacked_.data()) {
    kept = std::move(unpacked_);
  } else {
    kept.resize(bytes.size());
    std::copy(bytes.begin(), bytes.end(), kept.data());
  }
  dictionary_.emplace();
  if (dictionary_->read(column_, std::move(kept), page.values)) return {};
  return wrong_page("the dictionary ends too early");
}

Status ChunkReader::read_data(const PageHeader& page, std::span<const std::byte> stored) {
  has_data_ = true;
  if (page.values > chunk_.values - values_) return wrong_page("more values than the footer says");
  values_ += page.values;
  PageLevels levels;
  std::span<const std::byte> values;
  if (page.kind == PageKind::kDataV2) {
    const std::size_t plain = page.repetition_bytes + page.definition_bytes;
    ECHOLINE_ASSIGN(values, unpack(page, stored, plain));
    levels.repetition = {stored.first(page.repetition_bytes), level_width(column_.repetition_max)};
    levels.definition = {stored.subspan(page.repetition_bytes, page.definition_bytes),
                         level_width(column_.definition_max)};
  } else {
    ECHOLINE_ASSIGN(values, unpack(page, stored, 0));
    ECHOLINE_ASSIGN(levels.repetition,
                    take_levels(values, column_.repetition_max, page.repetition_encoding));
    ECHOLINE_ASSIGN(levels.definition,
                    take_levels(values, column_.definition_max, page.definition_encoding));
  }
  ECHOLINE_ASSIGN(const auto decoder,
                  make_value_decoder(column_, page.encoding, values, page.values,
                                     dictionary_ ? &*dictionary_ : nullptr));
  return rows_.take_page(page.values, levels, *decoder);
}

Status ChunkReader::end() {
  if (values_ != chunk_.values) {
    return wrong_page(
        fmt::format("the column has {} values, the footer says {}", values_, chunk_.values));
  }
  return rows_.end();
}

}  // namespace echoline::record
