#include "record/index/content_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

namespace echoline::record {

Result<ContentFile> ContentFile::create(const std::string& folder) {
  std::error_code error;
  // An error shows at mkostemp.
  std::filesystem::create_directories(folder, error);
  std::string name = folder + "/unpacked-XXXXXX";
  UniqueFd file(::mkostemp(name.data(), O_CLOEXEC));
  if (!file) return errno_status(errno, "cannot make a file to unpack to in " + folder);
  // The file lives as long as its descriptor.
  ::unlink(name.c_str());
  return ContentFile(std::move(file));
}

ContentFile::ContentFile(ContentFile&& other) noexcept
    : file_(std::move(other.file_)), mapped_(std::exchange(other.mapped_, {})) {}

Status ContentFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count =
        ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_status(errno, "cannot unpack to disk");
    offset += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

Status ContentFile::read(std::uint64_t offset, std::span<std::byte> into) const {
  while (!into.empty()) {
    const ssize_t count =
        ::pread(file_.get(), into.data(), into.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    // Fewer bytes than were written: an error of the disk.
    if (count <= 0) return errno_status(count < 0 ? errno : EIO, "cannot read unpacked bytes");
    offset += static_cast<std::uint64_t>(count);
    into = into.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

Result<std::span<std::byte>> ContentFile::map(std::uint64_t bytes) {
  // Reserved first: a full disk is an error here, and not a signal when a page is written.
  int error = 0;
  do {
    error = ::posix_fallocate(file_.get(), 0, static_cast<off_t>(bytes));
  } while (error == EINTR);
  if (error != 0) return errno_status(error, "cannot unpack to disk");
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (at == MAP_FAILED) return errno_status(errno, "cannot map the file to unpack to");
  mapped_ = {static_cast<std::byte*>(at), bytes};
  return mapped_;
}

void ContentFile::unmap() {
  if (!mapped_.empty()) ::munmap(mapped_.data(), mapped_.size());
  mapped_ = {};
}

}  // namespace echoline::record
