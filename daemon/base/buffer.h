// Owns the bytes of a record or tensor. Move-only; the memory is not zeroed.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace echoline {

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes) { resize(bytes); }
  Buffer(Buffer&& other) noexcept
      : data_(std::move(other.data_)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }

  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  std::span<std::byte> span() { return {data_.get(), size_}; }
  std::span<const std::byte> span() const { return {data_.get(), size_}; }

  // Reuses the allocation if it is large enough and not far too large. The content is undefined
  // afterwards.
  void resize(std::size_t bytes) {
    if (bytes > capacity_ || (capacity_ > kGiantBytes && bytes < capacity_ / 4)) {
      free();  // before the new allocation, so that the two never exist at once
      data_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
      capacity_ = bytes;
    }
    size_ = bytes;
  }

  // Frees the memory.
  void free() { *this = Buffer(); }

 private:
  static constexpr std::size_t kGiantBytes = std::size_t{64} << 20;

  std::unique_ptr<std::byte[]> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace echoline
