#include "engine/runtime/memory_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/values.h"

namespace echoline::engine {

using config::format_bytes;

namespace {

// Programs, stacks, connections and what the allocator keeps; tests/process/memory_test.py measures
// it.
constexpr std::uint64_t kProcessBytes = std::uint64_t{48} << 20;

}  // namespace

MemoryBudget::Reservation& MemoryBudget::Reservation::operator=(Reservation&& other) noexcept {
  if (this != &other) {
    if (budget_ != nullptr) budget_->give_back(bytes_);
    budget_ = std::exchange(other.budget_, nullptr);
    bytes_ = other.bytes_;
  }
  return *this;
}

MemoryBudget::Reservation::~Reservation() {
  if (budget_ != nullptr) budget_->give_back(bytes_);
}

Result<MemoryBudget::Reservation> MemoryBudget::reserve(std::uint64_t bytes,
                                                        const std::string& what) {
  while (true) {
    Result<Reservation> reservation = try_reserve(bytes, what);
    // A reclaim returns false when nothing idle is left; so the loop ends. It runs without the
    // lock, because it stops passes, whose reservations end under the lock.
    // More than the whole budget cannot become free.
    if (reservation.ok() || bytes > budget_bytes_ || !reclaim_ || !reclaim_()) return reservation;
  }
}

Result<MemoryBudget::Reservation> MemoryBudget::try_reserve(std::uint64_t bytes,
                                                            const std::string& what) {
  const MutexLock lock(mutex_);
  const std::uint64_t free_bytes = budget_bytes_ - reserved_bytes_;
  if (bytes > free_bytes) {
    return Status(Code::kResourceExhausted,
                  fmt::format("daemon.memory is too small: {} needs {}, {} of {} is free; it lacks "
                              "{}. Raise daemon.memory or lower publish.slots, batch.size, "
                              "read.read_ahead, echo.window or cache.memory",
                              what, format_bytes(bytes), format_bytes(free_bytes),
                              format_bytes(budget_bytes_), format_bytes(bytes - free_bytes)));
  }
  reserved_bytes_ += bytes;
  return Reservation(*this, bytes);
}

// Checked and counted in one step, so that two streams never take the same bytes.
MemoryBudget::Reservation MemoryBudget::reserve_up_to(std::uint64_t bytes, std::uint64_t spared) {
  const MutexLock lock(mutex_);
  const std::uint64_t free_bytes = budget_bytes_ - reserved_bytes_;
  const std::uint64_t granted =
      bytes <= free_bytes ? bytes : free_bytes - std::min(spared, free_bytes);
  reserved_bytes_ += granted;
  return Reservation(*this, granted);
}

MemoryBudget::Reservation MemoryBudget::reserve_spare(std::uint64_t bytes, std::uint64_t spared) {
  const MutexLock lock(mutex_);
  const std::uint64_t free_bytes = budget_bytes_ - reserved_bytes_;
  const std::uint64_t granted = std::min(bytes, free_bytes - std::min(spared, free_bytes));
  reserved_bytes_ += granted;
  return Reservation(*this, granted);
}

void MemoryBudget::Reservation::keep(std::uint64_t bytes) {
  if (bytes >= this->bytes()) return;
  budget_->give_back(bytes_ - bytes);
  bytes_ = bytes;
}

std::uint64_t MemoryBudget::reserved_bytes() const {
  const MutexLock lock(mutex_);
  return reserved_bytes_;
}

void MemoryBudget::give_back(std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  reserved_bytes_ -= bytes;
}

// Checked once at start: the budget is a promise about memory that the process may touch later.
Status check_budget_fits(std::uint64_t budget_bytes, const KernelFolders& folders) {
  const ring::MemoryBound whole = ring::whole_memory(folders);
  const std::uint64_t usable = whole.bytes - std::min(whole.bytes, kProcessBytes);
  if (budget_bytes <= usable) return Status();
  return Status(
      Code::kResourceExhausted,
      fmt::format(
          "daemon.memory is {}, but {} has {}, of which the process itself takes up to {}: "
          "{} are missing. Lower daemon.memory (--set daemon.memory=...) or raise the limit",
          format_bytes(budget_bytes), whole.limit, format_bytes(whole.bytes),
          format_bytes(kProcessBytes), format_bytes(budget_bytes - usable)));
}

}  // namespace echoline::engine
