// A ring in shared memory: the one implementation of Ring.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/unique_fd.h"
#include "echoline/shm/cursor_steps.h"
#include "ring/layout.h"
#include "ring/mapping.h"
#include "ring/readers.h"
#include "ring/ring.h"

namespace echoline::ring {

// Threads as Ring says. Nothing that decides is read back from shared memory, cursors apart: an
// unsealed ring can be scribbled over by its readers, and still the daemon is safe.
class SharedRing final : public Ring {
 public:
  SharedRing(RingSpec spec, Layout layout, UniqueFd fd, Mapping mapping);

  const RingSpec& spec() const override { return spec_; }
  std::uint64_t bytes() const override { return layout_.header.total_bytes; }
  std::byte* row(std::size_t field, std::uint64_t arena_row) override;
  std::byte* ragged_row(std::size_t field, std::uint32_t slot, std::uint32_t row) override;
  std::uint64_t* sample_ids(std::uint64_t arena_row) override;
  std::uint32_t* uses(std::uint64_t arena_row) override;
  std::uint32_t* row_flags(std::uint64_t arena_row) override;
  void finish_ragged(std::size_t field, std::uint32_t slot,
                     std::span<const std::uint64_t> lengths_bytes) override;

  std::uint64_t publish(shm::Descriptor descriptor) override;
  std::uint64_t published() const override { return published_.load(std::memory_order_acquire); }
  void log_factor(const shm::FactorLogEntry& entry) override {
    shm::write_factor(mapping_.factor_log(), entry);
  }
  std::uint64_t released() override { return readers_.released(); }
  bool wait_released(std::uint64_t count, std::uint64_t deadline_ns) override;
  void interrupt() override;
  Result<Reader> add_reader(std::uint64_t first_sequence, plan::Position next) override;
  std::optional<plan::Position> next_wanted() const override { return readers_.next_wanted(); }
  void remove_reader(std::uint64_t id) override;
  ReaderView view(std::uint64_t id) const override { return readers_.view(id); }
  void end(shm::WriterState state) override;
  int data_fd() const override { return fd_.get(); }

 private:
  // One sleep; true if anything moved. See wait.cc.
  bool sleep_for_release(std::uint32_t changes, std::uint64_t deadline_ns);
  // Tells a sleeping writer that readers or the interrupt flag have changed, and sees to it that it
  // wakes.
  void announce_change();

  const RingSpec spec_;
  const Layout layout_;
  const UniqueFd fd_;
  const Mapping mapping_;
  std::atomic<std::uint64_t> published_{0};
  mutable Readers readers_{published_};

  std::atomic<bool> interrupted_{false};
  std::atomic<std::uint32_t> changes_{0};
  // The word the writer sleeps on, or is about to, having seen `changes_` == sleeper_changes_.
  // Null: awake.
  std::atomic<const std::uint32_t*> sleeping_on_{nullptr};
  std::atomic<std::uint32_t> sleeper_changes_{0};
  std::uint32_t never_rung_ = 0;  // slept on while there is no reader
};

}  // namespace echoline::ring
