#include "seek/log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace echoline::seek {
namespace {

constexpr std::uint64_t kMagic = 0x31304B4545534345;  // "ECSEEK01"
constexpr const char* kExtension = ".seek";

struct Header {
  std::uint64_t magic = kMagic;
  std::uint64_t identity = 0;
  std::uint64_t check = 0;  // of the members before it
  std::uint64_t reserved = 0;
};
static_assert(sizeof(Header) == 32 && std::has_unique_object_representations_v<Header>);

std::uint64_t check_of(const Header& header) {
  return XXH3_64bits(&header, offsetof(Header, check));
}

// As much as there is, up to the size of `bytes`.
Result<std::size_t> read_at(int fd, std::uint64_t offset, std::span<std::byte> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count =
        ::pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_status(errno, "reading the seek indexes");
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

Status write_at(int fd, std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return errno_status(errno, "writing the seek indexes");
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return {};
}

// The length of the entry that `bytes` begin with; 0: none, or a damaged one.
std::size_t entry_bytes(std::span<const std::byte> bytes, std::uint64_t identity) {
  EntryHead head;
  if (bytes.size() < sizeof head) return 0;
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.points == 0 || head.points > kPointsMax || head.bytes() > bytes.size()) return 0;
  return head.check == seek::check_of(bytes.first(head.bytes()), identity) ? head.bytes() : 0;
}

UniqueFd lock_file(const std::string& path, int flags) {
  UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0640));
  if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.reset();
  return fd;
}

}  // namespace

Result<Log> Log::open(const std::string& path, std::uint64_t identity) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  UniqueFd fd = lock_file(path, O_RDWR | O_CREAT);
  if (!fd && errno == EWOULDBLOCK) return Status(Code::kUnavailable, path + " is in use");
  if (!fd) return errno_status(errno, "opening " + path);
  // The time of the last use, for remove_unused_logs.
  ::futimens(fd.get(), nullptr);
  Log log(std::move(fd), identity);
  ECHOLINE_TRY(log.check_header(path));
  return log;
}

Status Log::check_header(const std::string& path) {
  Header header;
  const auto bytes = std::as_writable_bytes(std::span(&header, 1));
  ECHOLINE_ASSIGN(const std::size_t count, read_at(fd_.get(), 0, bytes));
  end_ = sizeof header;
  if (count == sizeof header && header.magic == kMagic && header.check == check_of(header) &&
      header.identity == identity_) {
    return {};
  }
  if (::ftruncate(fd_.get(), 0) != 0) return errno_status(errno, "emptying " + path);
  header = {.identity = identity_};
  header.check = check_of(header);
  return write_at(fd_.get(), 0, std::as_bytes(std::span(&header, 1)));
}

Status Log::read(const std::function<bool(std::span<const std::byte>)>& take) {
  std::vector<std::byte> buffer(std::max<std::size_t>(1 << 20, kEntryBytesMax));
  for (;;) {
    ECHOLINE_ASSIGN(const std::size_t count, read_at(fd_.get(), end_, buffer));
    std::size_t done = 0;
    // An entry that goes beyond the buffer is the first one of the next buffer.
    while (const std::size_t bytes =
               entry_bytes(std::span(buffer).first(count).subspan(done), identity_)) {
      if (!take(std::span(buffer).subspan(done, bytes))) {
        end_ += done;
        return {};
      }
      done += bytes;
    }
    end_ += done;
    if (done == 0) return {};
  }
}

Status Log::append(std::span<const std::byte> entries) {
  ECHOLINE_TRY(write_at(fd_.get(), end_, entries));
  end_ += entries.size();
  return {};
}

void remove_unused_logs(const std::string& own_path, std::uint64_t bytes_max) {
  struct Unused {
    std::filesystem::file_time_type used;
    std::uint64_t bytes = 0;
    std::filesystem::path path;
  };
  std::vector<Unused> all;
  std::error_code error;
  const std::filesystem::path own = own_path;
  for (const auto& entry : std::filesystem::directory_iterator(own.parent_path(), error)) {
    if (entry.path() == own || entry.path().extension() != kExtension) continue;
    if (!entry.is_regular_file(error)) continue;
    all.push_back({entry.last_write_time(error), entry.file_size(error), entry.path()});
  }
  std::ranges::sort(all, std::greater<>(), &Unused::used);
  std::uint64_t kept = 0;
  for (const Unused& log : all) {
    // Locked: nobody opens it while it is removed.
    const UniqueFd fd = lock_file(log.path, O_RDWR);
    if (!fd) continue;
    kept += log.bytes;
    if (kept > bytes_max) ::unlink(log.path.c_str());
  }
}

}  // namespace echoline::seek
