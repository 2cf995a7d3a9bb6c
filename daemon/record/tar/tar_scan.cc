// The scan parses a member and steps over its data, in a loop; its owner reads the bytes.
#include "record/tar/tar_scan.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/ascii.h"
#include "record/core/text.h"
#include "record/index/compression.h"
#include "record/index/packed_values.h"
#include "record/tar/tar_header.h"

namespace echoline::record {

Status TarScan::take(std::span<const std::byte> window) {
  if (position_ == 0) ECHOLINE_TRY(check_start(window));
  const std::uint64_t start = position_;
  const bool to_end = start + window.size() >= shard_bytes_;
  while (!done_) {
    const std::uint64_t at = position_ - start;
    // The next member starts beyond this window. At the shard's end, an empty window is parsed: it
    // is the end of the archive.
    if (at > window.size() || (at == window.size() && position_ < shard_bytes_)) {
      needed_ = std::min(kTarBlock, shard_bytes_ - position_);
      return {};
    }
    auto parsed = parse_tar_member(window.subspan(at));
    if (!parsed.ok()) return with_advice(parsed.status());
    if (parsed->step == TarStep::kNeedMore) {
      // No more bytes will come, so the header is incomplete.
      if (to_end) {
        finish_truncated();
        return {};
      }
      needed_ = std::min(parsed->needed, shard_bytes_ - position_);
      return {};
    }
    if (parsed->step == TarStep::kEnd) {
      done_ = true;
      return {};
    }
    take_member(parsed->member);
  }
  return {};
}

Status TarScan::check_start(std::span<const std::byte> window) const {
  ECHOLINE_TRY(refuse_compressed(window));
  if (shard_bytes_ >= kTarBlock) return {};
  return Status(Code::kDataLoss, fmt::format("no tar archive: it has {} bytes; remove it from "
                                             "read.url or write it again",
                                             shard_bytes_));
}

// The unpacked size of a compressed shard is known now.
void TarScan::end_at(std::uint64_t bytes) {
  shard_bytes_ = bytes;
  if (done_ || position_ < bytes) return;
  if (table_.size() > 0) {
    end_record_at(std::min(table_.offset.back() + table_.bytes.back(), bytes));
  }
  position_ = bytes;
  truncated_ = data_end_ > bytes;
  done_ = true;
}

// Completes the error of a header with its offset and with advice.
Status TarScan::with_advice(Status status) const {
  if (status.code() != Code::kDataLoss) {
    return std::move(status).with_context(fmt::format("offset {}", position_));
  }
  return Status(Code::kDataLoss,
                fmt::format("offset {}: {}; the archive is damaged or no tar: write it again, or "
                            "remove it from read.url",
                            position_, status.message()));
}

void TarScan::take_member(const TarMember& member) {
  extended_ |= member.extended;
  if (is_meta_file(member)) meta_files_.push_back(position_);
  if (member.file || member.link != TarLink::kNone) entries_.add(member, position_);
  const auto name = sample_name(member);
  if (name) {
    std::string extension = lower_ascii(name->extension);
    const bool repeated =
        std::find(extensions_.begin(), extensions_.end(), extension) != extensions_.end();
    if (extensions_.empty() || repeated || !name->has_key(key_)) start_record(name->key());
    extensions_.push_back(std::move(extension));
    if (member.link != TarLink::kNone) {
      links_.push_back({table_.size() - 1, make_entry(member, position_)});
    }
    // The extent includes headers and padding, up to the end of the shard.
    end_record_at(std::min(position_ + member.total_bytes(), shard_bytes_));
  }
  data_end_ = position_ + member.header_bytes + member.data_bytes;
  position_ = std::min(position_ + member.total_bytes(), shard_bytes_);
  if (position_ < shard_bytes_) return;
  // An archive without the zero blocks at its end is not truncated: some writers leave them out.
  truncated_ = data_end_ > shard_bytes_;
  done_ = true;
}

void TarScan::start_record(std::string key) {
  key_ = std::move(key);
  table_.add(position_, 0, key_);
  extensions_.clear();
}

void TarScan::end_record_at(std::uint64_t end) { table_.bytes.back() = end - table_.offset.back(); }

// Only now the whole archive is known, and a symbolic link may lead to a later member.
RecordTable TarScan::take_table() {
  for (auto link = links_.begin(); link != links_.end();) {
    const std::uint64_t record = link->record;
    std::vector<TarEntry> files;
    for (; link != links_.end() && link->record == record; ++link) {
      for (TarEntry& entry : entries_.passed(link->link)) files.push_back(std::move(entry));
    }
    add_parts(record, std::move(files));
  }
  links_.clear();
  return std::move(table_);
}

// Each file once, and none of those that are within the record already.
void TarScan::add_parts(std::uint64_t record, std::vector<TarEntry> files) {
  const std::uint64_t begin = table_.offset[record], end = begin + table_.bytes[record];
  std::sort(files.begin(), files.end(),
            [](const TarEntry& a, const TarEntry& b) { return a.offset < b.offset; });
  std::uint64_t done = 0;
  for (const TarEntry& file : files) {
    if (file.offset < done || (file.offset >= begin && file.offset < end)) continue;
    done = std::min(file.offset + file.bytes, shard_bytes_);
    table_.parts.push_back({record, file.offset, done - file.offset});
  }
}

ScanPart TarScan::part(std::size_t first, std::size_t last) const {
  ScanPart part = ResumableScan::part(first, last);
  PackedWriter more;
  more.put(std::uint64_t{extended_});
  entries_.put(part.begin, part.end, more);
  for (const RecordLink& link : links_) {
    if (link.record < first || link.record >= last) continue;
    more.put(link.record + 1);
    put_entry(link.link, more);
  }
  more.put(std::uint64_t{0});
  std::vector<std::uint64_t> meta_files;
  std::copy_if(meta_files_.begin(), meta_files_.end(), std::back_inserter(meta_files),
               [&](std::uint64_t at) { return at >= part.begin && at < part.end; });
  more.put(std::span<const std::uint64_t>(meta_files));
  part.more = more.take();
  return part;
}

bool TarScan::restore(const ScanPart& part) {
  PackedReader more(part.more);
  extended_ |= more.number() != 0;
  entries_.restore(more);
  while (const std::uint64_t record = more.number())
    links_.push_back({record - 1, take_entry(more)});
  const std::vector<std::uint64_t> meta_files = more.values<std::uint64_t>();
  meta_files_.insert(meta_files_.end(), meta_files.begin(), meta_files.end());
  ResumableScan::restore(part);
  needed_ = std::min(kTarBlock, shard_bytes_ - position_);
  return more.ok();
}

// The shard ends within a header, so the record of that file is unknown. It may belong to
// the last record, so that record gets these bytes and is found bad when it is cut. Without a
// record, they become one.
void TarScan::finish_truncated() {
  if (table_.size() == 0) start_record("truncated");
  end_record_at(shard_bytes_);
  position_ = shard_bytes_;
  truncated_ = true;
  done_ = true;
}

}  // namespace echoline::record
