// Finding the records of one shard from windows of its bytes: what each format with an index does
// in its own way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "base/status.h"
#include "record/index/record_table.h"
#include "source/core/source.h"

namespace echoline::record {

// Single-threaded. Whoever owns it reads the shard's bytes from position() on, at least needed() of
// them or up to the shard's end, and hands them in, until it is done.
class ShardScan {
 public:
  virtual ~ShardScan() = default;
  virtual bool done() const = 0;
  virtual std::uint64_t position() const = 0;
  virtual std::uint64_t needed() const = 0;
  // Errors name the offset.
  virtual Status take(std::span<const std::byte> window) = 0;
  // After done(). The last record of a truncated shard is in the table, and is found bad when it is
  // cut.
  virtual RecordTable take_table() = 0;
  // The records found so far, ascending; of the last one maybe only a part yet. Records and their
  // ends are found before position() passes them.
  virtual const RecordTable& table() const = 0;
  virtual bool truncated() const = 0;
  // Of a shard whose bytes come from unpacking: how many there are in all, once that is known. What
  // has been taken stays; records beyond the end are cut to it.
  virtual void end_at(std::uint64_t) {}
  // After done(): the bytes that a packed shard has unpacked; 0 for a plain one.
  virtual std::uint64_t unpacked_bytes() const { return 0; }
};

// What the index of a format is built with. `name` stands in the stored index's name, so that two
// formats never share one. `skip_bytes` as make_checksum_scan has it.
struct ScanSpec {
  std::string_view name;
  std::function<std::unique_ptr<ShardScan>(const source::ObjectInfo& shard,
                                           std::uint64_t skip_bytes)>
      make_scan;
  // Records stand in a table at the shard's start: only that is read.
  bool table_at_start = false;
};

}  // namespace echoline::record
