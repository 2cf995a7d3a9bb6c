// In order: what has a magic, what lies in folders, what the configuration says is tokens.
#include "record/open/detect.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "echoline/v1/config.pb.h"
#include "record/arrays/array_header.h"
#include "record/index/compression.h"
#include "record/index/unpacker.h"
#include "record/mds/mds_index.h"
#include "record/mds/mds_set.h"
#include "record/tar/tar_header.h"
#include "record/tfrecord/tfrecord.h"

namespace echoline::record {
namespace {

// A header whose checksum holds, of a record that fits the file.
bool is_tfrecord(std::span<const std::byte> head, std::uint64_t file_bytes) {
  const auto bytes = tf_record_bytes(head);
  return bytes && file_bytes >= kTfFrameBytes && *bytes <= file_bytes - kTfFrameBytes;
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

bool is_list_name(std::string_view url) {
  constexpr std::string_view kEndings[] = {".csv", ".jsonl", ".ndjson", ".txt"};
  return std::any_of(std::begin(kEndings), std::end(kEndings),
                     [url](std::string_view ending) { return url.ends_with(ending); });
}

// Holds the largest block that zstd and gzip unpack at a time.
constexpr std::uint64_t kPackedHeadBytes = 256 << 10;

// Of the formats that are read compressed. A record's size says nothing here: the file's is
// unknown.
Result<std::string> detect_packed(std::span<const std::byte> head) {
  auto unpacker = Unpacker::make(head);
  if (!unpacker.ok()) return unpacker.status();
  std::vector<std::byte> start(kTarBlock);
  ECHOLINE_ASSIGN(const std::size_t bytes, (*unpacker)->unpack(head, start));
  start.resize(bytes);
  if (parse_tar_header(start).ok()) return std::string("webdataset");
  if (tf_record_bytes(start)) return std::string("tfrecord");
  return Status(Code::kUnimplemented,
                "the file is compressed, and only tar and TFRecord files are read so: unpack it, "
                "or write shards with 'echoline pack'");
}

}  // namespace

Result<std::string> detect_format(const v1::Read& read, const std::vector<Listed>& listed,
                                  source::Source& source) {
  if (const auto index = find_mds_index(listed.front())) {
    ECHOLINE_ASSIGN(const std::vector<std::byte> text,
                    read_bytes(source, *index, 0, std::min(index->bytes, kMdsIndexBytesMax)));
    if (is_mds_index(as_text(text))) return std::string("mds");
  }
  const source::ObjectInfo& first = listed.front().objects.front();
  ECHOLINE_ASSIGN(const std::vector<std::byte> head,
                  read_bytes(source, first, 0, std::min(first.bytes, kArrayHeadBytes)));
  if (head.size() >= kTarBlock && parse_tar_header(head).ok()) return std::string("webdataset");
  if (is_tfrecord(head, first.bytes)) return std::string("tfrecord");
  if (is_npy(head)) return std::string("tokens");
  const auto idx = parse_idx_header(head);
  if (idx.ok() && idx->header_bytes + idx->data_bytes() == first.bytes) return std::string("idx");
  if (listed.front().url.ends_with('/')) return std::string("folder");
  if (read.has_tokens()) return std::string("tokens");
  if (!packing_of(head).empty()) {
    ECHOLINE_ASSIGN(const std::vector<std::byte> start,
                    read_bytes(source, first, 0, std::min(first.bytes, kPackedHeadBytes)));
    Result<std::string> packed = detect_packed(start);
    if (!packed.ok()) return std::move(packed).status().with_context(first.url);
    return packed;
  }
  if (is_list_name(first.url)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("cannot tell the format of {}: of a list of files, set read.format "
                              "to files, of tokens, set read.tokens",
                              first.url));
  }
  const std::string_view start = as_text(head).substr(0, 8);
  return Status(
      Code::kInvalidArgument,
      fmt::format("cannot tell the format of {} ({} bytes, which begin {}): set read.format to {}",
                  first.url, first.bytes, hex(start), kFormatNames));
}

}  // namespace echoline::record
