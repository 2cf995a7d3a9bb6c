// Memory that the daemon shares with one worker process, in one direction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"
#include "base/unique_fd.h"

namespace echoline::user_code {

// Its size never changes (it is sealed), so neither side can make the other's accesses fail. Pages
// exist once they are written. One thread at a time.
class Area {
 public:
  enum class Writer : std::uint8_t { kDaemon, kWorker };

  // An area that the daemon writes cannot be mapped for writing by anybody else.
  static Result<Area> create(const char* name, std::uint64_t bytes, Writer writer);
  Area(Area&& other) noexcept;
  Area& operator=(Area&&) = delete;
  ~Area();

  int fd() const { return fd_.get(); }
  std::uint64_t size() const { return size_; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  // Memory for the first `bytes`, which are not more than the size: allocates them now, because a
  // write without memory would end the daemon. Only of an area that the daemon writes.
  Result<std::span<std::byte>> reserve(std::uint64_t bytes);

 private:
  Area(UniqueFd fd, std::byte* data, std::uint64_t size)
      : fd_(std::move(fd)), data_(data), size_(size) {}

  UniqueFd fd_;
  std::byte* data_;
  std::uint64_t size_;
  std::uint64_t reserved_ = 0;
};

// A sealed, read-only file in memory with this text.
Result<UniqueFd> text_in_memory(const char* name, std::string_view text);

}  // namespace echoline::user_code
