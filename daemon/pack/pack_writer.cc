// Writes POSIX ustar headers; every field that could differ between two runs is zero.
#include "pack/pack_writer.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>

#include "base/atomic_file.h"
#include "base/crc.h"
#include "record/index/stored_index.h"

namespace echoline::cli {
namespace {

constexpr std::uint64_t kBlock = 512;
constexpr std::uint64_t kArchiveBlock = 10240;  // tar pads archives to a multiple of this
constexpr std::size_t kBufferBytes = 1 << 20;
// Eleven octal digits.
constexpr std::uint64_t kOctalSizeMax = (std::uint64_t{1} << 33) - 1;

void put_text(std::array<char, kBlock>& block, std::size_t at, std::string_view text) {
  std::memcpy(block.data() + at, text.data(), text.size());
}

// Eleven octal digits, or GNU's big-endian form for larger numbers.
void put_size(std::array<char, kBlock>& block, std::uint64_t bytes) {
  if (bytes <= kOctalSizeMax) return put_text(block, 124, fmt::format("{:011o}", bytes));
  // The highest bit marks the binary form; the number is right-aligned in its field.
  block[124] = static_cast<char>(0x80);
  for (std::size_t i = 0; i < 8; ++i) block[135 - i] = static_cast<char>(bytes >> (8 * i));
}

std::array<char, kBlock> make_header(std::string_view name, std::uint64_t bytes) {
  std::array<char, kBlock> block{};
  put_text(block, 0, name);
  // Mode, owner and group, in octal digits.
  put_text(block, 100, "0000644");
  put_text(block, 108, "0000000");
  put_text(block, 116, "0000000");
  put_size(block, bytes);
  // The time of the last change.
  put_text(block, 136, "00000000000");
  // The checksum is computed with its own field as blanks.
  put_text(block, 148, "        ");
  // A regular file.
  block[156] = '0';
  // Magic and version of POSIX ustar.
  put_text(block, 257, std::string_view("ustar\00000", 8));
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  // Six digits, a zero and a blank.
  put_text(block, 148, fmt::format("{:06o}", sum));
  block[154] = '\0';
  return block;
}

}  // namespace

std::uint64_t ShardWriter::member_bytes(std::uint64_t data_bytes) {
  return kBlock + (data_bytes + kBlock - 1) / kBlock * kBlock;
}

Result<ShardWriter> ShardWriter::open(std::string path) {
  // Next to the final name, so that the rename stays within one file system.
  std::string temporary = path + ".XXXXXX";
  UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) return errno_status(errno, "cannot make " + temporary);
  return ShardWriter(std::move(path), std::move(temporary), std::move(fd));
}

ShardWriter::ShardWriter(std::string path, std::string temporary, UniqueFd fd)
    : path_(std::move(path)), temporary_(std::move(temporary)), fd_(std::move(fd)) {
  // One block more than the limit at which it is written.
  buffer_.reserve(kBufferBytes + kBlock);
}

ShardWriter::ShardWriter(ShardWriter&& other) noexcept
    : path_(std::move(other.path_)),
      // Empty: the moved-from writer removes nothing.
      temporary_(std::exchange(other.temporary_, "")),
      fd_(std::move(other.fd_)),
      buffer_(std::move(other.buffer_)),
      bytes_(other.bytes_),
      table_(std::move(other.table_)),
      open_(other.open_),
      key_(std::move(other.key_)),
      start_(other.start_),
      crc_(other.crc_) {}

ShardWriter::~ShardWriter() {
  // close() has not been reached.
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void ShardWriter::begin(std::string_view key) {
  // The record before ends where this one begins.
  end_record();
  open_ = true;
  key_ = key;
  start_ = bytes_;
  crc_ = 0;
}

void ShardWriter::end_record() {
  if (!open_) return;
  table_.add(start_, bytes_ - start_, key_);
  // The table has room for checksums only where there are some.
  table_.checksum.resize(table_.size());
  table_.checksum.back() = crc_;
  // The bytes come from this process, not from an answer of a store.
  table_.trusted = true;
  open_ = false;
}

Status ShardWriter::add(std::string_view name, std::string_view data) {
  if (name.size() > 100) {
    return Status(Code::kInvalidArgument,
                  fmt::format("the name '{}' is too long for a shard", name));
  }
  const std::array<char, kBlock> header = make_header(name, data.size());
  ECHOLINE_TRY(put({header.data(), header.size()}));
  ECHOLINE_TRY(put(data));
  return pad(kBlock);
}

Status ShardWriter::close() {
  end_record();
  // Two blocks of zeros end an archive.
  ECHOLINE_TRY(put(std::string(2 * kBlock, '\0')));
  ECHOLINE_TRY(pad(kArchiveBlock));
  ECHOLINE_TRY(flush());
  // On the disk before it gets its name: a crash leaves the old shard or the new one.
  if (::fchmod(fd_.get(), 0644) != 0 || ::fsync(fd_.get()) != 0) {
    return errno_status(errno, "cannot flush " + temporary_);
  }
  // The old index goes first: it must never be next to the new shard.
  const std::string index = path_ + std::string(record::kShardIndexSuffix);
  if (::unlink(index.c_str()) != 0 && errno != ENOENT) {
    return errno_status(errno, "cannot replace " + index);
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return errno_status(errno, "cannot rename " + temporary_);
  }
  temporary_.clear();
  fd_.reset();
  // The index has no version of the object: the shard has not been listed yet.
  return write_file_atomically(
      index, record::encode_shard_index({{path_, bytes_, {}}, 0, table_.size()}, table_));
}

Status ShardWriter::pad(std::uint64_t multiple) {
  return put(std::string((multiple - bytes_ % multiple) % multiple, '\0'));
}

Status ShardWriter::put(std::string_view bytes) {
  bytes_ += bytes.size();
  // Headers and padding are part of the record, as in a scanned index.
  crc_ = crc32c(crc_, std::as_bytes(std::span(bytes)));
  buffer_.append(bytes);
  return buffer_.size() < kBufferBytes ? Status() : flush();
}

Status ShardWriter::flush() {
  std::string_view left = buffer_;
  while (!left.empty()) {
    const ssize_t written = ::write(fd_.get(), left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno_status(errno, "cannot write " + temporary_);
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
  return {};
}

}  // namespace echoline::cli
