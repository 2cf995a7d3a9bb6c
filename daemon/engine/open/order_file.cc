// Both kinds of files are read in blocks: a list can be larger than the memory for it.
#include "engine/open/order_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "base/sanitize_name.h"
#include "base/unique_fd.h"
#include "record/arrays/array_header.h"

namespace echoline::engine {
namespace {

constexpr std::size_t kBlockBytes = 1 << 20;
// Longer lines cannot be a number with some blanks.
constexpr std::size_t kLineBytesMax = 64;

Status invalid(std::string why) { return Status(Code::kInvalidArgument, std::move(why)); }

// A file that is read from its beginning to its end.
class BlockReader {
 public:
  static Result<BlockReader> open(const std::string& path) {
    // Without O_NONBLOCK, opening a pipe would wait for a writer.
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd) return errno_status(errno, path);
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0) return errno_status(errno, path);
    if (!S_ISREG(info.st_mode)) return invalid(path + ": is no file");
    return BlockReader(path, std::move(fd), static_cast<std::uint64_t>(info.st_size));
  }

  const std::string& path() const { return path_; }
  std::uint64_t bytes() const { return bytes_; }

  // Fills `out` unless the file ends before.
  Result<std::size_t> read(std::span<char> out) {
    std::size_t filled = 0;
    while (filled < out.size()) {
      const ssize_t got = ::read(fd_.get(), out.data() + filled, out.size() - filled);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return errno_status(errno, path_);
      if (got == 0) break;
      filled += static_cast<std::size_t>(got);
    }
    return filled;
  }

  Status skip_to(std::uint64_t offset) {
    if (::lseek(fd_.get(), static_cast<off_t>(offset), SEEK_SET) >= 0) return {};
    return errno_status(errno, path_);
  }

 private:
  BlockReader(std::string path, UniqueFd fd, std::uint64_t bytes)
      : path_(std::move(path)), fd_(std::move(fd)), bytes_(bytes) {}

  std::string path_;
  UniqueFd fd_;
  std::uint64_t bytes_;
};

// Cuts text into lines, which can begin in one block and end in another.
class LineTaker {
 public:
  LineTaker(const std::string& path, const std::function<Status(std::uint64_t)>& take)
      : path_(path), take_(take) {}

  Status block(std::string_view text) {
    while (true) {
      const std::size_t end = text.find('\n');
      if (end == std::string_view::npos) break;
      ECHOLINE_TRY(line(text.substr(0, end)));
      text.remove_prefix(end + 1);
    }
    // Only the beginning of a long line is kept: it is enough to refuse it.
    rest_.append(text.substr(0, kLineBytesMax + 1 - std::min(rest_.size(), kLineBytesMax + 1)));
    return {};
  }
  // The last line needs no line end.
  Status end() { return line({}); }

 private:
  Status line(std::string_view text) {
    ++number_;
    if (!rest_.empty()) {
      rest_.append(text.substr(0, kLineBytesMax));
      text = rest_;
    }
    const Status status = id(text);
    rest_.clear();
    if (status.ok()) return {};
    return Status(status).with_context(fmt::format("{}: line {}", path_, number_));
  }

  Status id(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r";
    const std::size_t begin = text.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return {};  // an empty line
    text = text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
    std::uint64_t record = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), record);
    if (error == std::errc() && end == text.data() + text.size()) return take_(record);
    return invalid(fmt::format("'{}' is no record id; write one number on each line",
                               sanitize_name(text.substr(0, kLineBytesMax))));
  }

  const std::string& path_;
  const std::function<Status(std::uint64_t)>& take_;
  std::string rest_;  // of the block before
  std::uint64_t number_ = 0;
};

Status read_text(BlockReader& file, std::string_view head,
                 const std::function<Status(std::uint64_t)>& take) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // of some editors
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  LineTaker lines(file.path(), take);
  ECHOLINE_TRY(lines.block(head));
  std::vector<char> block(std::min(kBlockBytes, file.bytes()));
  while (true) {
    ECHOLINE_ASSIGN(const std::size_t got, file.read(block));
    if (got == 0) return lines.end();
    ECHOLINE_TRY(lines.block({block.data(), got}));
  }
}

// An id of the array; nothing if it is negative.
std::optional<std::uint64_t> element(const record::ElementType& type, const char* at) {
  std::array<std::byte, 8> bytes{};
  record::copy_little_endian(std::as_bytes(std::span(at, type.bytes)), type, bytes.data());
  std::uint64_t value = 0;  // little-endian, like this machine
  std::memcpy(&value, bytes.data(), bytes.size());
  const bool negative =
      type.kind == record::ElementKind::kSigned && (value >> (8 * type.bytes - 1)) != 0;
  return negative ? std::nullopt : std::optional(value);
}

Status check_array(const record::ArrayHeader& header, std::uint64_t file_bytes) {
  if (header.type.kind == record::ElementKind::kFloat) {
    return invalid("an array of floats; record ids are integers, as uint64");
  }
  if (header.shape.size() != 1) {
    return invalid(fmt::format("an array of {} dimensions; a list of record ids has one",
                               header.shape.size()));
  }
  if (header.header_bytes + header.data_bytes() == file_bytes) return {};
  return invalid(fmt::format("{} bytes, but its header says {}; write it again", file_bytes,
                             header.header_bytes + header.data_bytes()));
}

Status read_array(BlockReader& file, std::string_view head,
                  const std::function<Status(std::uint64_t)>& take) {
  ECHOLINE_ASSIGN(const record::ArrayHeader header,
                  record::parse_npy_header(std::as_bytes(std::span(head.data(), head.size()))));
  ECHOLINE_TRY(check_array(header, file.bytes()));
  ECHOLINE_TRY(file.skip_to(header.header_bytes));
  std::vector<char> block(std::min(kBlockBytes, file.bytes()));
  const std::uint64_t count = header.elements();
  for (std::uint64_t place = 0; place < count;) {
    ECHOLINE_ASSIGN(const std::size_t got, file.read(block));
    if (got == 0) return invalid("became shorter while it was read");
    for (std::size_t at = 0; at + header.type.bytes <= got && place < count; ++place) {
      const std::optional<std::uint64_t> id = element(header.type, block.data() + at);
      const Status taken = id ? take(*id) : invalid("a negative number is no record id");
      if (!taken.ok()) return Status(taken).with_context(fmt::format("element {}", place));
      at += header.type.bytes;
    }
  }
  return {};
}

}  // namespace

Status for_each_id(const std::string& path, const std::function<Status(std::uint64_t)>& take) {
  ECHOLINE_ASSIGN(BlockReader file, BlockReader::open(path));
  std::string head(record::kArrayHeadBytes, '\0');
  ECHOLINE_ASSIGN(const std::size_t got, file.read(head));
  head.resize(got);
  // By its first bytes, not by its name.
  if (!record::is_npy(std::as_bytes(std::span(head.data(), head.size())))) {
    return read_text(file, head, take);
  }
  return read_array(file, head, take).with_context(path);
}

}  // namespace echoline::engine
