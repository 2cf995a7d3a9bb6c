// In order: what has a magic, what lies in folders, what the configuration says is tokens.
#include "record/detect.h"

#include <fmt/core.h>

#include <algorithm>

#include "echoline/v1/config.pb.h"
#include "record/array_header.h"
#include "record/local_file.h"
#include "record/tar_header.h"

namespace echoline::record {
namespace {

// Compressed files are left to the formats, which say what to do about them.
bool is_gzip(std::string_view head) { return head.starts_with("\x1F\x8B"); }

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

}  // namespace

Result<std::string> detect_format(const v1::Read& read, const std::vector<Listed>& listed,
                                  source::Source& source) {
  const source::ObjectInfo& first = listed.front().objects.front();
  ECHOLINE_ASSIGN(const std::vector<std::byte> head,
                  read_bytes(source, first, 0, std::min(first.bytes, kArrayHeadBytes)));
  if (head.size() >= kTarBlock && parse_tar_header(head).ok()) return std::string("webdataset");
  if (is_npy(head)) return std::string("tokens");
  const auto idx = parse_idx_header(head);
  if (idx.ok() && idx->header_bytes + idx->data_bytes() == first.bytes) return std::string("idx");
  if (listed.front().url.ends_with('/')) return std::string("folder");
  if (read.has_tokens()) return std::string("tokens");
  if (is_gzip(as_text(head))) {
    return Status(
        Code::kUnimplemented,
        fmt::format("{} is compressed, which cannot be streamed yet: unpack it with gunzip, or "
                    "make shards of it with 'echoline pack'",
                    first.url));
  }
  const std::string_view start = as_text(head).substr(0, 8);
  return Status(
      Code::kInvalidArgument,
      fmt::format("cannot tell the format of {} ({} bytes, which begin {}): set read.format to "
                  "webdataset, folder, idx or tokens",
                  first.url, first.bytes, hex(start)));
}

}  // namespace echoline::record
