// What an unfinished index pass has scanned, in files next to the stored index. After an
// interruption the next pass goes on from there.
#pragma once

#include <string>

#include "record/index/entry_file.h"
#include "record/index/scan_journal.h"
#include "record/index/stored_index.h"

namespace echoline::record {

// One thread. Complete shards, in the form of encode_index with its checksum. Two passes over the
// same data set may append to one journal.
class IndexJournal {
 public:
  // The journal of the stored index at this path. An empty path: nothing is kept.
  explicit IndexJournal(const std::string& index_path);

  // The complete shards, in the order in which they were added.
  StoredIndex load() const;
  void add(const Shard& shard, const RecordTable& records);

  // The parts of shards that are not complete.
  ScanJournal& scans() { return scans_; }

  // Call it after the whole index was stored.
  void remove();

 private:
  EntryFile shards_;
  ScanJournal scans_;
};

}  // namespace echoline::record
