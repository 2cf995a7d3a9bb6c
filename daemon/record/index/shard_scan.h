// Finds the records of one shard from windows of its bytes; each format with an index implements
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "record/index/record_table.h"
#include "source/core/source.h"

namespace echoline::record {

// What a scan knows from the bytes [begin, end) of its shard. A record begins at `end`.
struct ScanPart {
  std::uint64_t begin = 0, end = 0;
  RecordTable records;  // that begin there; their checksums are final, 0 where not known
  std::string more;     // in the form of the format
};

// Single-threaded. Its owner reads the shard's bytes from position() on, at least needed() of them
// or up to the end of the shard, and passes them to take(), until done().
class ShardScan {
 public:
  virtual ~ShardScan() = default;
  virtual bool done() const = 0;
  virtual std::uint64_t position() const = 0;
  virtual std::uint64_t needed() const = 0;
  // Takes bytes from position() on. Errors name the offset.
  virtual Status take(std::span<const std::byte> window) = 0;
  // From now on contents of any length are skipped; or, again, as the scan was made. Checksums of
  // records that are skipped are not known.
  virtual void set_hopping(bool) {}
  // Whether contents can be skipped, as far as is known: a compressed shard must be read.
  virtual bool can_hop() const { return true; }
  // Call it after done(). The table includes the last record of a truncated shard; `cut` finds that
  // it is bad.
  virtual RecordTable take_table() = 0;
  // The records found so far, in ascending order. The last one may still grow. A record and its end
  // are found before position() passes them.
  virtual const RecordTable& table() const = 0;
  virtual bool truncated() const = 0;
  // Whether checksums of the format cover what was taken for the table so far, so that damaged
  // bytes would have been an error.
  virtual bool is_certain() const { return true; }
  // For a shard that is being unpacked: sets its unpacked size, once that is known. Records beyond
  // the end are cut to it.
  virtual void end_at(std::uint64_t) {}
  // After done(): the unpacked size of a compressed shard; 0 for a plain one.
  virtual std::uint64_t unpacked_bytes() const { return 0; }
  // As in Shard, so far.
  virtual std::uint64_t meta_files() const { return 0; }

  // Records that no later byte changes, at most all but the last one; 0 if another scan could not
  // go on from here.
  virtual std::size_t complete() const { return 0; }
  // What was found from the begin of record `first`, or of the shard if that is 0, to the begin of
  // record `last`, which is at most complete().
  virtual ScanPart part(std::size_t, std::size_t) const { return {}; }
  // Takes the next part of another scan of the same shard; call it before take(). False if this is
  // no part of such a scan, or if the format cannot go on.
  virtual bool restore(const ScanPart&) { return false; }
};

// How a format reads index files of other programs (foreign_index.h).
struct ForeignIndexRules {
  // The records that the text of such a file has for a shard of this size. They follow each other
  // without gaps from the start of the shard. Otherwise a Status with the reason.
  Result<RecordTable> (*parse)(std::string_view text, std::uint64_t shard_bytes) = nullptr;
  // Whether the bytes of a shard behind its last record have no further record. Null: a shard ends
  // with its last record.
  Status (*check_rest)(std::span<const std::byte> rest) = nullptr;
};

// How the index of a format is built. `name` is part of the stored index's file name, so that two
// formats never share one. `skip_bytes` as in make_checksum_scan.
struct ScanSpec {
  std::string_view name;
  std::function<std::unique_ptr<ShardScan>(const source::ObjectInfo& shard,
                                           std::uint64_t skip_bytes)>
      make_scan;
  // The records are in a table at the start of the shard: only that is read.
  bool table_at_start = false;
  // False: index files next to the shards are not used, because they may be those of another
  // configuration.
  bool sidecars = true;
  // `parse` is null if the format has no index files of other programs.
  ForeignIndexRules foreign_index = {};
};

}  // namespace echoline::record
