// Layout: header (magic, version, counts), in layout 4 the number of parts, one row per shard, in
// layout 4 another row per shard, the texts of the shards, three arrays over the records, keys, in
// layouts 3 and 4 the checksums of the records (in layout 4 if a flag says so), in layout 4 the
// parts, checksum of the file. Arrays are stored in memory order: Echoline runs on little-endian
// machines only. Earlier versions write no flags, and ignore them.
#include "record/index/stored_index.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>

#include "base/atomic_file.h"
#include "record/core/local_file.h"
#include "record/index/listing.h"

namespace echoline::record {
namespace {

constexpr const char* kVersionMark = "\n";  // no address contains it

static_assert(std::endian::native == std::endian::little);

constexpr std::array<char, 8> kMagic = {'E', 'C', 'H', 'O', 'I', 'D', 'X', '\n'};
constexpr std::uint32_t kLayout = 2;
constexpr std::uint32_t kLayoutWithChecksums = 3;
constexpr std::uint32_t kLayoutExtended = 4;
// Flags.
constexpr std::uint32_t kTrusted = 1;    // the checksums are trusted
constexpr std::uint32_t kChecksums = 2;  // of layout 4: there are checksums

// Sums of sizes stay far from an overflow.
constexpr std::uint64_t kPartBytesMax = std::uint64_t{1} << 62;

struct FileHeader {
  std::array<char, 8> magic = kMagic;
  std::uint32_t layout = kLayout;
  std::uint32_t flags = 0;
  std::uint64_t shard_count = 0;
  std::uint64_t record_count = 0;
  std::uint64_t text_bytes = 0;
  std::uint64_t key_bytes = 0;
};

struct ShardRow {
  std::uint64_t bytes = 0;
  std::uint64_t record_count = 0;
  std::uint64_t url_bytes = 0;
  std::uint64_t version_bytes = 0;
  std::uint64_t unpacked_bytes = 0;
};

// The second row of a shard, in layout 4.
struct ShardMore {
  std::uint64_t meta_files = 0;
};

template <typename T>
void put(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

template <typename T>
void put_array(std::string& out, const std::vector<T>& values) {
  out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

// Takes values off the front of bytes; the caller has checked the total size.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <typename T>
  T take() {
    T value;
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_ = bytes_.subspan(sizeof(T));
    return value;
  }
  std::string_view take_text(std::uint64_t count) {
    const std::string_view text(reinterpret_cast<const char*>(bytes_.data()), count);
    bytes_ = bytes_.subspan(count);
    return text;
  }
  template <typename T>
  void take_array(std::vector<T>& values, std::uint64_t count) {
    values.resize(count);
    if (count != 0) std::memcpy(values.data(), bytes_.data(), count * sizeof(T));
    bytes_ = bytes_.subspan(count * sizeof(T));
  }

 private:
  std::span<const std::byte> bytes_;
};

Status corrupt(std::string_view what) {
  return Status(Code::kDataLoss, "corrupt index: " + std::string(what));
}

bool has_checksums(const FileHeader& header) {
  return header.layout == kLayoutWithChecksums ||
         (header.layout == kLayoutExtended && (header.flags & kChecksums) != 0);
}

bool is_known_layout(const FileHeader& header) {
  return header.layout >= kLayout && header.layout <= kLayoutExtended;
}

std::uint64_t bytes_of_record(const FileHeader& header) {
  return 3 * sizeof(std::uint64_t) + (has_checksums(header) ? sizeof(std::uint32_t) : 0);
}

// Each count is compared with the file size first, so that the products cannot overflow.
bool sizes_add_up(const FileHeader& header, std::uint64_t part_count, std::uint64_t bytes) {
  if (has_checksums(header) && header.record_count == 0) return false;
  if (header.shard_count > bytes || header.record_count > bytes || header.text_bytes > bytes ||
      header.key_bytes > bytes || part_count > bytes) {
    return false;
  }
  const std::uint64_t more = header.layout == kLayoutExtended
                                 ? sizeof(std::uint64_t) + header.shard_count * sizeof(ShardMore) +
                                       part_count * sizeof(RecordPart)
                                 : 0;
  return sizeof(FileHeader) + header.shard_count * sizeof(ShardRow) + header.text_bytes +
             header.record_count * bytes_of_record(header) + header.key_bytes + more +
             sizeof(std::uint64_t) ==
         bytes;
}

Status take_shards(const FileHeader& header, Cursor& cursor, std::vector<Shard>& shards) {
  std::vector<ShardRow> rows(header.shard_count);
  for (ShardRow& row : rows) row = cursor.take<ShardRow>();
  std::vector<ShardMore> more;
  cursor.take_array(more, header.layout == kLayoutExtended ? header.shard_count : 0);
  Cursor text = cursor;
  std::uint64_t text_left = header.text_bytes, records = 0;
  shards.reserve(rows.size());
  for (const ShardRow& row : rows) {
    const ShardMore second = more.empty() ? ShardMore() : more[shards.size()];
    for (const std::uint64_t bytes : {row.url_bytes, row.version_bytes}) {
      if (bytes > text_left) return corrupt("shard names");
      text_left -= bytes;
    }
    if (row.record_count > header.record_count - records) return corrupt("shard counts");
    Shard shard;
    shard.object.url = text.take_text(row.url_bytes);
    shard.object.version = text.take_text(row.version_bytes);
    shard.meta_files = second.meta_files;
    shard.object.bytes = row.bytes;
    shard.first_record = records;
    shard.record_count = row.record_count;
    shard.unpacked_bytes = row.unpacked_bytes;
    records += row.record_count;
    shards.push_back(std::move(shard));
  }
  // Every byte of text and every record belongs to a shard.
  if (text_left != 0 || records != header.record_count) return corrupt("shard table");
  cursor.take_text(header.text_bytes);
  return {};
}

Status check_records(const StoredIndex& index) {
  for (const Shard& shard : index.shards) {
    std::uint64_t end = 0;
    for (std::uint64_t i = 0; i < shard.record_count; ++i) {
      const std::uint64_t record = shard.first_record + i;
      const std::uint64_t offset = index.records.offset[record],
                          bytes = index.records.bytes[record];
      // Compared without sums, which could overflow.
      const std::uint64_t all = shard.extents_end();
      if (offset < end || offset > all || bytes > all - offset) {
        return corrupt("record outside its shard");
      }
      end = offset + bytes;
    }
  }
  std::uint64_t key_end = 0;
  for (const std::uint64_t end : index.records.key_end) {
    if (end < key_end) return corrupt("keys");
    key_end = end;
  }
  if (key_end != index.records.keys.size()) return corrupt("keys");
  return {};
}

Status check_parts(const StoredIndex& index) {
  const std::vector<RecordPart>& parts = index.records.parts;
  auto shard = index.shards.begin();
  std::uint64_t total = 0;
  for (auto part = parts.begin(); part != parts.end(); ++part) {
    if (part->record >= index.records.size()) return corrupt("parts");
    if (part != parts.begin() && part->record < std::prev(part)->record) return corrupt("parts");
    while (part->record >= shard->first_record + shard->record_count) ++shard;
    const bool same = part != parts.begin() && part->record == std::prev(part)->record;
    const std::uint64_t least = same ? std::prev(part)->offset + std::prev(part)->bytes : 0;
    const std::uint64_t all = shard->extents_end();
    if (part->offset < least || part->offset > all || part->bytes > all - part->offset) {
      return corrupt("part of a record outside its shard");
    }
    if (part->bytes > kPartBytesMax - total) return corrupt("parts");
    total += part->bytes;
  }
  return {};
}

// The number of parts follows the header in layout 4.
Result<std::uint64_t> take_part_count(const FileHeader& header, Cursor& cursor,
                                      std::uint64_t file_bytes) {
  if (header.layout != kLayoutExtended) return std::uint64_t{0};
  if (file_bytes < sizeof(FileHeader) + 2 * sizeof(std::uint64_t)) return corrupt("too short");
  return cursor.take<std::uint64_t>();
}

// Whether it has what only layout 4 can express.
bool is_extended(const StoredIndex& index) {
  return !index.records.parts.empty() ||
         std::any_of(index.shards.begin(), index.shards.end(),
                     [](const Shard& shard) { return shard.meta_files > 0; });
}

}  // namespace

std::string encode_index(const StoredIndex& index) {
  FileHeader header;
  if (!index.records.checksum.empty()) header.layout = kLayoutWithChecksums;
  if (index.records.trusted) header.flags |= kTrusted;
  if (is_extended(index)) {
    header.layout = kLayoutExtended;
    if (!index.records.checksum.empty()) header.flags |= kChecksums;
  }
  header.shard_count = index.shards.size();
  header.record_count = index.records.size();
  header.key_bytes = index.records.keys.size();
  std::string rows, more, text, out;
  for (const Shard& shard : index.shards) {
    put(rows, ShardRow{shard.object.bytes, shard.record_count, shard.object.url.size(),
                       shard.object.version.size(), shard.unpacked_bytes});
    if (header.layout == kLayoutExtended) put(more, ShardMore{shard.meta_files});
    text += shard.object.url + shard.object.version;
  }
  header.text_bytes = text.size();
  out.reserve(sizeof(header) + rows.size() + text.size() +
              header.record_count * bytes_of_record(header) + header.key_bytes + 8);
  put(out, header);
  if (header.layout == kLayoutExtended) put(out, std::uint64_t{index.records.parts.size()});
  out += rows + more + text;
  put_array(out, index.records.offset);
  put_array(out, index.records.bytes);
  put_array(out, index.records.key_end);
  out += index.records.keys;
  put_array(out, index.records.checksum);
  put_array(out, index.records.parts);
  put(out, static_cast<std::uint64_t>(XXH3_64bits(out.data(), out.size())));
  return out;
}

Result<StoredIndex> decode_index(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(FileHeader) + sizeof(std::uint64_t)) return corrupt("too short");
  Cursor cursor(bytes);
  const auto header = cursor.take<FileHeader>();
  if (header.magic != kMagic) return corrupt("no index file");
  if (!is_known_layout(header)) return corrupt("made by another version");
  // The checksum comes first: after it only other writers can cause an error.
  const auto body = bytes.first(bytes.size() - sizeof(std::uint64_t));
  const auto sum = Cursor(bytes.subspan(body.size())).take<std::uint64_t>();
  if (sum != XXH3_64bits(body.data(), body.size())) return corrupt("checksum differs");
  ECHOLINE_ASSIGN(const std::uint64_t part_count, take_part_count(header, cursor, bytes.size()));
  if (!sizes_add_up(header, part_count, bytes.size())) return corrupt("sizes differ");
  StoredIndex index;
  ECHOLINE_TRY(take_shards(header, cursor, index.shards));
  cursor.take_array(index.records.offset, header.record_count);
  cursor.take_array(index.records.bytes, header.record_count);
  cursor.take_array(index.records.key_end, header.record_count);
  index.records.keys = cursor.take_text(header.key_bytes);
  if (has_checksums(header)) cursor.take_array(index.records.checksum, header.record_count);
  cursor.take_array(index.records.parts, part_count);
  index.records.trusted = (header.flags & kTrusted) != 0;
  ECHOLINE_TRY(check_records(index));
  ECHOLINE_TRY(check_parts(index));
  if (header.layout == kLayoutExtended && !is_extended(index)) return corrupt("layout");
  return index;
}

Status write_index_file(const std::string& path, const StoredIndex& index) {
  return write_file_atomically(path, encode_index(index));
}

Result<StoredIndex> read_index_file(const std::string& path) {
  ECHOLINE_ASSIGN(const std::string text, read_file(path));
  auto index = decode_index(std::as_bytes(std::span(text)));
  if (!index.ok()) return index.status().with_context(path);
  return index;
}

std::string encode_shard_index(const Shard& shard, const RecordTable& records) {
  // The file name only, because the shard may be copied with its index.
  const source::ObjectInfo& object = shard.object;
  Shard kept = shard;
  kept.first_record = 0;
  kept.object.url = base_name(object.url);
  if (!object.version.empty()) kept.object.version = object.url + kVersionMark + object.version;
  return encode_index({{kept}, records});
}

bool is_index_of(const StoredIndex& index, const source::ObjectInfo& shard) {
  if (index.shards.size() != 1 || index.shards[0].object.bytes != shard.bytes) return false;
  const std::string& kept = index.shards[0].object.version;
  const std::string here = shard.url + kVersionMark;
  return shard.version.empty() || !kept.starts_with(here) || kept == here + shard.version;
}

}  // namespace echoline::record
