// Adds bytes to a sum for as long as the share of them lives.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace echoline::engine {

// Move-only; an empty share counts nothing. The sum outlives its shares; any thread may read it.
class ByteShare {
 public:
  ByteShare() = default;
  ByteShare(std::atomic<std::uint64_t>& sum, std::uint64_t bytes) : sum_(&sum), bytes_(bytes) {
    sum.fetch_add(bytes, std::memory_order_relaxed);
  }
  ByteShare(ByteShare&& other) noexcept
      : sum_(std::exchange(other.sum_, nullptr)), bytes_(other.bytes_) {}
  ByteShare& operator=(ByteShare&& other) noexcept {
    const ByteShare old(std::move(*this));
    sum_ = std::exchange(other.sum_, nullptr);
    bytes_ = other.bytes_;
    return *this;
  }
  ~ByteShare() {
    if (sum_ != nullptr) sum_->fetch_sub(bytes_, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t>* sum_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace echoline::engine
