// The bytes that all streams together may take. A part reserves its bytes before it uses them; a
// refusal says how much is missing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "base/status.h"
#include "ring/available_memory.h"

namespace echoline::engine {

// Any thread may call any of it.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t bytes) : budget_bytes_(bytes) {}

  // Move-only; its end returns the bytes. The budget outlives its reservations.
  class Reservation {
   public:
    Reservation() = default;
    Reservation(MemoryBudget& budget, std::uint64_t bytes) : budget_(&budget), bytes_(bytes) {}
    Reservation(Reservation&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}
    Reservation& operator=(Reservation&& other) noexcept;
    ~Reservation();
    std::uint64_t bytes() const { return budget_ == nullptr ? 0 : bytes_; }
    // Gives back all but `bytes`.
    void keep(std::uint64_t bytes);

   private:
    MemoryBudget* budget_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  // Frees memory that is kept only because it may be useful: returns once reservations have ended,
  // or false where there is nothing to free. May block. Called without the budget's lock, on the
  // thread that wants to reserve, so that thread must not hold a lock that this function takes.
  using ReclaimFunction = std::function<bool()>;
  // Before the first reserve().
  void set_reclaim(ReclaimFunction reclaim) { reclaim_ = std::move(reclaim); }

  // `what` names the purpose in the refusal. Reclaims until there is room, or nothing to reclaim.
  Result<Reservation> reserve(std::uint64_t bytes, const std::string& what)
      ECHOLINE_EXCLUDES(mutex_);
  // For a user that can do with less than `bytes`: all of them if they are free, else what leaves
  // `spared` bytes free. Reclaims nothing.
  Reservation reserve_up_to(std::uint64_t bytes, std::uint64_t spared);
  // For what is only useful: as many of `bytes` as leave `spared` bytes free.
  Reservation reserve_spare(std::uint64_t bytes, std::uint64_t spared);

  std::uint64_t budget_bytes() const { return budget_bytes_; }
  std::uint64_t reserved_bytes() const;

 private:
  Result<Reservation> try_reserve(std::uint64_t bytes, const std::string& what);
  void give_back(std::uint64_t bytes);

  const std::uint64_t budget_bytes_;
  ReclaimFunction reclaim_;
  mutable Mutex mutex_;  // no other lock is taken under it
  std::uint64_t reserved_bytes_ ECHOLINE_GUARDED_BY(mutex_) = 0;
};

// Refuses a budget that the machine or a control group (a container's) cannot hold together with
// the process itself: the kernel would not refuse it but kill the daemon once the memory is used.
// Decoded photos that workers are preparing are not part of the budget.
Status check_budget_fits(std::uint64_t budget_bytes, const KernelFolders& folders = {});

}  // namespace echoline::engine
