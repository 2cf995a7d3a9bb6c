// An entry is its size, 8 bytes little-endian, and its body.
#include "record/index/entry_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>

#include "base/log.h"
#include "record/core/local_file.h"

namespace echoline::record {
namespace {

using Size = std::uint64_t;

}  // namespace

void EntryFile::load(const std::function<bool(std::span<const std::byte>)>& take) const {
  if (path_.empty()) return;
  const Result<std::string> text = read_file(path_);
  // No file: no pass was interrupted.
  if (!text.ok()) return;
  const auto bytes = std::as_bytes(std::span(*text));
  std::size_t good = 0;
  // The last entry may be cut at any place.
  while (bytes.size() - good >= sizeof(Size)) {
    Size size = 0;
    std::memcpy(&size, bytes.data() + good, sizeof(size));
    const auto rest = bytes.subspan(good + sizeof(size));
    if (size > rest.size() || !take(rest.first(size))) break;
    good += sizeof(size) + size;
  }
  // Entries that are added behind an incomplete one could never be read.
  if (good < bytes.size() && ::truncate(path_.c_str(), static_cast<off_t>(good)) != 0) {
    log_warning("record", "{}: {}", path_, std::strerror(errno));
  }
}

void EntryFile::add(const std::string& body) {
  if (path_.empty()) return;
  const Size size = body.size();
  std::string entry(reinterpret_cast<const char*>(&size), sizeof(size));
  entry += body;
  const Status status = append(entry);
  if (status.ok()) return;
  log_warning("record", "an interrupted index pass will read again what it has read: {}",
              status.message());
  // Nothing more is kept, and one log line is enough.
  path_.clear();
}

Status EntryFile::append(const std::string& entry) {
  if (!file_) {
    std::error_code ignored;  // open() reports the error
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
    // O_APPEND: two passes over the same data set write whole entries behind each other.
    file_.reset(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (!file_) return errno_status(errno, path_);
  }
  const ssize_t written = ::write(file_.get(), entry.data(), entry.size());
  if (written < 0) return errno_status(errno, path_);
  // The disk is full. load() removes the incomplete entry.
  if (static_cast<std::size_t>(written) < entry.size()) {
    return Status(Code::kResourceExhausted, path_ + ": no room for an entry");
  }
  return {};
}

void EntryFile::remove() {
  if (path_.empty()) return;
  ::unlink(path_.c_str());
  file_.reset();
}

}  // namespace echoline::record
