// Finds the records of one tar shard from windows of its bytes; skips the contents of files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "record/index/resumable_scan.h"
#include "record/tar/tar_header.h"
#include "record/tar/tar_links.h"
#include "record/tar/tar_member.h"

namespace echoline::record {

// Consecutive files with the same key are one record. An extension that repeats starts the next
// record. The files that links of a record lead to are its parts.
class TarScan final : public ResumableScan {
 public:
  using ResumableScan::ResumableScan;

  bool done() const override { return done_; }
  std::uint64_t needed() const override { return needed_; }
  Status take(std::span<const std::byte> window) override;
  RecordTable take_table() override;
  bool truncated() const override { return truncated_; }
  bool is_certain() const override { return !extended_; }
  std::uint64_t meta_files() const override { return meta_files_.size(); }
  void end_at(std::uint64_t bytes) override;
  ScanPart part(std::size_t first, std::size_t last) const override;
  bool restore(const ScanPart& part) override;

 private:
  Status check_start(std::span<const std::byte> window) const;
  Status with_advice(Status status) const;
  void take_member(const TarMember& member);
  void start_record(std::string key);
  void end_record_at(std::uint64_t end);
  void finish_truncated();
  void add_parts(std::uint64_t record, std::vector<TarEntry> files);

  std::uint64_t needed_ = kTarBlock;
  bool done_ = false;
  bool truncated_ = false;
  bool extended_ = false;                  // a member was
  std::vector<std::uint64_t> meta_files_;  // their offsets
  // A link of a record.
  struct RecordLink {
    std::uint64_t record = 0;
    TarEntry link;
  };
  TarEntries entries_;
  std::vector<RecordLink> links_;
  std::uint64_t data_end_ = 0;  // of the last member, without padding

  // The current record, the last one in the table. No extensions: the next file begins a record.
  std::string key_;
  std::vector<std::string> extensions_;
};

}  // namespace echoline::record
