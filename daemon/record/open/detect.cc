// Every format is asked for its match. Compressed objects come last: a folder of gzip files is a
// folder.
#include "record/open/detect.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/hex.h"
#include "record/core/fields.h"
#include "record/index/compression.h"
#include "record/index/unpacker.h"
#include "record/open/formats.h"

namespace echoline::record {
namespace {

// Holds the largest block that zstd and gzip unpack at a time.
constexpr std::uint64_t kCompressedHeadBytes = 256 << 10;
// A tar header; no format that is read compressed needs more.
constexpr std::uint64_t kUnpackedHeadBytes = 512;

bool is_list_name(std::string_view url) {
  constexpr std::string_view kEndings[] = {".csv", ".jsonl", ".ndjson", ".txt"};
  return std::any_of(std::begin(kEndings), std::end(kEndings),
                     [url](std::string_view ending) { return url.ends_with(ending); });
}

using IsCandidate = bool (*)(const Format& format, std::span<const std::byte> packed);

bool reads_plain(const Format&, std::span<const std::byte>) { return true; }
bool reads_compressed(const Format& format, std::span<const std::byte>) {
  return format.reads_compressed;
}
bool reads_zlib(const Format& format, std::span<const std::byte> packed) {
  return format.is_zlib != nullptr && format.is_zlib(packed);
}

// The better match wins; of equal ones the first in the table.
// Null if no format matches.
Result<const Format*> best_match(const FormatProbe& probe, IsCandidate is_candidate,
                                 std::span<const std::byte> packed = {}) {
  const Format* best = nullptr;
  Match best_match = Match::kNone;
  for (const Format* format : formats()) {
    if (format->match == nullptr || !is_candidate(*format, packed)) continue;
    ECHOLINE_ASSIGN(const Match match, format->match(probe));
    if (match <= best_match) continue;
    best_match = match;
    best = format;
  }
  return best;
}

// Null if no format that may be compressed so matches the unpacked bytes.
Result<const Format*> match_unpacked(FormatProbe probe, IsCandidate is_candidate,
                                     std::span<const std::byte> packed) {
  auto unpacker = Unpacker::make(packed);
  if (!unpacker.ok()) return unpacker.status();
  std::span<const std::byte> in = packed;
  std::vector<std::byte> head(kUnpackedHeadBytes);
  ECHOLINE_ASSIGN(const std::size_t bytes, (*unpacker)->unpack(in, head));
  probe.head = std::span(head).first(bytes);
  // The unpacked size is not known; formats that compare it with a header must not match.
  probe.object_bytes = UINT64_MAX;
  return best_match(probe, is_candidate, packed);
}

Result<const Format*> match_compressed(const FormatProbe& probe,
                                       std::span<const std::byte> packed) {
  ECHOLINE_ASSIGN(const Format* format, match_unpacked(probe, reads_compressed, packed));
  if (format != nullptr) return format;
  return Status(
      Code::kUnimplemented,
      "the file is compressed, and only tar, TFRecord and text files are read so: unpack it, "
      "or write shards with 'echoline pack'");
}

Status unknown_format(const source::ObjectInfo& object, std::span<const std::byte> head) {
  // Lists of names look like text, so they get a message of their own.
  if (is_list_name(object.url)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("cannot tell the format of {}: of a list of files, set read.format "
                              "to files, of tokens, set read.tokens",
                              object.url));
  }
  return Status(
      Code::kInvalidArgument,
      fmt::format("cannot tell the format of {} ({} bytes, which begin {}): set read.format to {}",
                  object.url, object.bytes,
                  to_hex(head.first(std::min<std::size_t>(head.size(), 8))), format_names()));
}

Result<const Format*> detect_once(const v1::Read& read, const std::vector<Listed>& listed,
                                  source::Source& source) {
  // All objects have the format of the first.
  const source::ObjectInfo& first = listed.front().objects.front();
  ECHOLINE_ASSIGN(const std::vector<std::byte> head,
                  read_bytes(source, first, 0, std::min(first.bytes, kProbeBytes)));
  const FormatProbe probe{read, source, listed, head, first.bytes};
  ECHOLINE_ASSIGN(const Format* format, best_match(probe, reads_plain));
  if (format != nullptr) return format;
  if (compression_of(head).empty()) {
    // Other data can look like zlib, too. Then it cannot be unpacked, or nothing known comes out.
    const auto zlib = match_unpacked(probe, reads_zlib, head);
    if (zlib.ok() && *zlib != nullptr) return *zlib;
    return unknown_format(first, head);
  }
  // Not compressed either: nothing can be said about it.
  if (compression_of(head).empty()) return unknown_format(first, head);
  ECHOLINE_ASSIGN(const std::vector<std::byte> packed,
                  read_bytes(source, first, 0, std::min(first.bytes, kCompressedHeadBytes)));
  Result<const Format*> found = match_compressed(probe, packed);
  if (!found.ok()) return std::move(found).status().with_context(first.url);
  return found;
}

}  // namespace

Result<const Format*> detect_format(const v1::Read& read, const std::vector<Listed>& listed,
                                    source::Source& source) {
  // Wrong bytes could look like another format, so an answer that cannot be parsed is read again.
  return read_parsed(source, [&] { return detect_once(read, listed, source); });
}

}  // namespace echoline::record
