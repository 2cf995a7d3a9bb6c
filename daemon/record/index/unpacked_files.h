// The unpacked files that an UnpackingSource keeps on disk, within a bound on their total size.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "record/index/unpacked_file.h"
#include "source/core/source.h"

namespace echoline::record {

struct UnpackingOptions {
  std::string folder;           // for the unpacked bytes
  std::uint64_t bytes_max = 0;  // of all unpacked files together
};

// One thread. Owns the files. A file that is wanted (a request waits for it) or that has reads in
// flight is never evicted; of the others the least recently used goes first.
class UnpackedFiles {
 public:
  using IsWanted = std::function<bool(const UnpackedFile&)>;
  using List = std::list<std::unique_ptr<UnpackedFile>>;

  UnpackedFiles(UnpackingOptions options, IsWanted is_wanted)
      : options_(std::move(options)), is_wanted_(std::move(is_wanted)) {}

  // The file of an object, which counts as used now; null if there is none.
  UnpackedFile* use(const std::string& url);

  // Adds a file for an object. Also ok if that has to wait: for room, or
  // because enough files are being unpacked. kResourceExhausted if it can never fit.
  Status start(const source::ObjectInfo& object, UnpackedForm form);

  // Removes a file. Its memory stays valid until its reads in flight have landed.
  void drop(const UnpackedFile& file);
  // Frees dropped files whose reads have all landed.
  void free_dropped();
  // False once the file is dropped.
  bool contains(const UnpackedFile& file) const;

  // The files that are not dropped, most recently used first.
  const List& all() const { return files_; }

 private:
  bool make_room(std::uint64_t bytes);

  const UnpackingOptions options_;
  const IsWanted is_wanted_;
  List files_;
  List dropped_;
  std::unordered_map<std::string, List::iterator> by_url_;  // into files_
  std::uint64_t bytes_ = 0;                                 // of files_, when complete
};

}  // namespace echoline::record
