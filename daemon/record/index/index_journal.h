// The shards that an unfinished index pass has scanned, in a file next to the stored index. After
// an interruption the next pass scans only the others.
#pragma once

#include <string>

#include "base/status.h"
#include "base/unique_fd.h"
#include "record/index/stored_index.h"

namespace echoline::record {

// One thread. Each shard is appended with one system call, so that a killed process leaves at most
// one incomplete entry, at the end. Entries have the form of encode_index, with its checksum. Two
// passes over the same data set may append to one file.
class IndexJournal {
 public:
  // The journal of the stored index at this path. An empty path: nothing is kept.
  explicit IndexJournal(const std::string& index_path);

  // The complete entries, in the order in which they were added. Removes what follows them.
  StoredIndex load() const;

  // A failure is logged once; then nothing more is kept.
  void add(const Shard& shard, const RecordTable& records);

  // Call it after the whole index was stored.
  void remove();

 private:
  Status append(const std::string& entry);

  std::string path_;  // empty: nothing is kept
  UniqueFd file_;     // opened by the first add()
};

}  // namespace echoline::record
