// The file of a plugin's library, as it was when the stream was opened.
#pragma once

#include <sys/stat.h>

#include <memory>
#include <string>

#include "base/status.h"
#include "base/unique_fd.h"

namespace echoline::user_code {

// The open descriptor keeps the file, also when another one takes its place, as an upgrade does. So
// all workers of a stream load the same library. Immutable.
class LibraryFile {
 public:
  static Result<std::shared_ptr<const LibraryFile>> open(const std::string& path);

  // 32 hex digits, of all bytes.
  const std::string& hash() const { return hash_; }
  // A copy of the descriptor. kFailedPrecondition if the file itself was written since.
  Result<UniqueFd> unchanged() const;

 private:
  LibraryFile(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  Status read();

  const std::string path_;
  const UniqueFd fd_;
  struct stat state_ {};
  std::string hash_;
};

}  // namespace echoline::user_code
