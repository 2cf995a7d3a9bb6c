// The unpacked files that an UnpackingSource keeps on disk, within a bound on their total size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "record/index/unpacked_file.h"
#include "source/core/source.h"

namespace echoline::record {

// Each needs a file descriptor, of which a process often has 1024.
inline constexpr std::size_t kUnpackedFilesMax = 512;

struct UnpackingOptions {
  std::string folder;           // for the unpacked bytes
  std::uint64_t bytes_max = 0;  // of all unpacked files together
};

// One thread. Owns the files. A file whose part is wanted (a request waits for it) or that has
// reads in flight is never evicted; of the others the least recently used goes first.
class UnpackedFiles {
 public:
  using IsWanted = std::function<bool(const UnpackedPart&)>;
  using List = std::list<std::unique_ptr<UnpackedFile>>;

  UnpackedFiles(UnpackingOptions options, IsWanted is_wanted)
      : options_(std::move(options)), is_wanted_(std::move(is_wanted)) {}

  // The file of a part, which counts as used now; null if there is none.
  UnpackedFile* use(const UnpackedPart& part);

  // Adds a file for a part of an object; the part must live as long. Also ok if that has to wait:
  // for room, or because enough files are being unpacked. kResourceExhausted if it can never fit.
  Status start(const source::ObjectInfo& object, const UnpackedPart& part);

  // Removes a file. Its memory stays valid until its reads in flight have landed.
  void drop(const UnpackedFile& file);
  // Removes the file of a part, if there is one; the next one is read with care.
  void doubt(const UnpackedPart& part);
  // Frees dropped files whose reads have all landed.
  void free_dropped();
  // False once the file is dropped.
  bool contains(const UnpackedFile& file) const;

  // The files that were not complete at the last forget_complete().
  const std::vector<UnpackedFile*>& unfinished() const { return unfinished_; }
  void forget_complete();

 private:
  bool make_room(std::uint64_t bytes);

  const UnpackingOptions options_;
  const IsWanted is_wanted_;
  List files_;  // most recently used first
  List dropped_;
  std::unordered_map<const UnpackedPart*, List::iterator> by_part_;  // into files_
  std::unordered_set<const UnpackedPart*> doubted_;
  std::vector<UnpackedFile*> unfinished_;  // of files_
  std::uint64_t bytes_ = 0;                // of files_, when complete
};

}  // namespace echoline::record
