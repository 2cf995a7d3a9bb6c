// Adds bytes to a sum for as long as the share of them lives.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace echoline::engine {

// Shared by its owner and the shares of it, in whatever order they end. Any thread may read it.
using ByteSum = std::shared_ptr<std::atomic<std::uint64_t>>;

// Move-only; an empty share counts nothing.
class ByteShare {
 public:
  ByteShare() = default;
  ByteShare(ByteSum sum, std::uint64_t bytes) : sum_(std::move(sum)), bytes_(bytes) {
    sum_->fetch_add(bytes, std::memory_order_relaxed);
  }
  ByteShare(ByteShare&& other) noexcept = default;
  ByteShare& operator=(ByteShare&& other) noexcept {
    const ByteShare old(std::move(*this));
    sum_ = std::move(other.sum_);
    bytes_ = other.bytes_;
    return *this;
  }
  ~ByteShare() {
    if (sum_ != nullptr) sum_->fetch_sub(bytes_, std::memory_order_relaxed);
  }

 private:
  ByteSum sum_;
  std::uint64_t bytes_ = 0;
};

}  // namespace echoline::engine
