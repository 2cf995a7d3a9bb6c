// The bytes that all streams together may take: reserved before they are used, refused with the
// numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/status.h"
#include "ring/available_memory.h"

namespace echoline::engine {

// Any thread may call any of it.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t bytes) : budget_bytes_(bytes) {}

  // Gives its bytes back when it goes. The budget outlives its reservations.
  class Reservation {
   public:
    Reservation() = default;
    Reservation(MemoryBudget& budget, std::uint64_t bytes) : budget_(&budget), bytes_(bytes) {}
    Reservation(Reservation&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}
    Reservation& operator=(Reservation&& other) noexcept;
    ~Reservation();
    std::uint64_t bytes() const { return budget_ == nullptr ? 0 : bytes_; }

   private:
    MemoryBudget* budget_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  // `what` says what the bytes are for, in the refusal.
  Result<Reservation> reserve(std::uint64_t bytes, const std::string& what);
  // As much of `bytes` as there is, for what can do with less; all of them, or what leaves `spared`
  // free.
  Reservation reserve_up_to(std::uint64_t bytes, std::uint64_t spared);

  std::uint64_t budget_bytes() const { return budget_bytes_; }
  std::uint64_t reserved_bytes() const;

 private:
  void give_back(std::uint64_t bytes);

  const std::uint64_t budget_bytes_;
  mutable std::mutex mutex_;
  std::uint64_t reserved_bytes_ = 0;
};

// Refuses a budget that the machine, or a control group such as a container's, cannot hold beside
// the process itself: the kernel would not refuse it but kill the daemon once it is used. The
// decoded photos that workers have in hand are not in it.
Status check_budget_fits(std::uint64_t budget_bytes, const KernelFolders& folders = {});

}  // namespace echoline::engine
