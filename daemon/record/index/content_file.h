// A file without a name that holds unpacked bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"
#include "base/unique_fd.h"

namespace echoline::record {

// Single-threaded. The file has no name, so it disappears with the process, even if that is killed.
// It is written through the page cache: the bytes are usually read within seconds and freed before
// they reach the disk.
class ContentFile {
 public:
  static Result<ContentFile> create(const std::string& folder);
  ContentFile(ContentFile&& other) noexcept;
  ContentFile& operator=(ContentFile&&) = delete;
  ~ContentFile() { unmap(); }

  Status write(std::uint64_t offset, std::span<const std::byte> bytes);
  Status read(std::uint64_t offset, std::span<std::byte> into) const;
  // Reserves the disk space for that many bytes and maps them for writing in any order, until
  // unmap().
  Result<std::span<std::byte>> map(std::uint64_t bytes);
  void unmap();

 private:
  explicit ContentFile(UniqueFd file) : file_(std::move(file)) {}

  UniqueFd file_;
  std::span<std::byte> mapped_;
};

}  // namespace echoline::record
