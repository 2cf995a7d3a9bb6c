#include "simulation/sim_trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "echoline/shm/cursor_steps.h"
#include "engine/open/bad_records.h"

namespace echoline::simulation {

void SimTrainer::attach(std::shared_ptr<engine::Pass> pass, const ring::Ring::Reader& reader) {
  pass_ = std::move(pass);
  reader_id_ = reader.id;
  memory_ = std::make_unique<ring::Trainer>(pass_->ring().data_fd(), reader.cursor_fd,
                                            reader.first_sequence);
}

void SimTrainer::detach() {
  history_ = pass_->history().as_of(next_);
  held_.clear();
  memory_.reset();
  pass_->ring().remove_reader(reader_id_);
  pass_.reset();
}

bool SimTrainer::read() {
  const std::optional<shm::Descriptor> descriptor = memory_->next(0);
  if (!descriptor.has_value()) return false;
  // The changes as they are now: once no reader wants the epoch, the pass forgets them.
  const engine::FactorHistory factors = pass_->factors();
  held_.push_back({*descriptor, factors.list(descriptor->epoch), factors.knows(descriptor->epoch)});
  // Under batch echo a short batch keeps all its row numbers.
  const bool batch_echo = plan_.spec().echo_point == plan::EchoPoint::kBatch;
  const std::uint64_t rows = batch_echo ? plan_.spec().batch_rows : descriptor->valid_rows;
  const plan::Position end{descriptor->epoch, descriptor->row + rows};
  if (end <= next_) return true;  // before its place: it only gives it back
  if (plan::Position{descriptor->epoch, descriptor->row} != next_) {
    fail(*descriptor, fmt::format("wanted epoch {} row {}", next_.epoch, next_.row));
  }
  check(held_.back());
  rows_ += descriptor->valid_rows;
  replaced_ += descriptor->replaced_rows;
  if (batches_left_ > 0) --batches_left_;
  next_ =
      (descriptor->flags & shm::kEndOfEpoch) != 0 ? plan::Position{descriptor->epoch + 1, 0} : end;
  return true;
}

bool SimTrainer::release() {
  if (held_.empty()) return false;
  // Nothing under a batch that is held may have changed.
  check(held_.front());
  const std::uint64_t count = held_.front().descriptor.sequence + 1;
  held_.pop_front();
  shm::release(memory_->writer(), memory_->cursor(), count);
  return true;
}

void SimTrainer::skip_epoch() {
  next_ = {next_.epoch + 1, 0};
  shm::write_next(memory_->cursor(), next_.epoch, next_.row);
}

void SimTrainer::check(const Held& held) {
  if (!held.factors_known) return;  // a batch that it skips
  const shm::Descriptor& descriptor = held.descriptor;
  const auto epoch = plan_.epoch(descriptor.epoch, held.factors);
  const std::uint64_t step = descriptor.row / plan_.spec().batch_rows;
  if (descriptor.valid_rows > epoch->valid_rows(step)) {
    fail(descriptor, fmt::format("{} valid rows", descriptor.valid_rows));
    return;
  }
  for (std::uint32_t row = 0; row < descriptor.valid_rows; ++row) {
    check_row(descriptor, row, epoch->at(descriptor.row + row));
  }
}

void SimTrainer::check_row(const shm::Descriptor& descriptor, std::uint32_t row,
                           const plan::RowUse& expected) {
  const std::uint64_t arena_row = descriptor.arena_row + row;
  ring::Ring& ring = pass_->ring();
  const std::uint64_t sample = *ring.sample_ids(arena_row);
  const std::uint64_t wanted = expected_sample(descriptor.epoch, expected.record);
  if (sample != wanted) {
    fail(descriptor, fmt::format("row {}: sample {}, not {}", row, sample, wanted));
  }
  const bool batch_echo = plan_.spec().echo_point == plan::EchoPoint::kBatch;
  const std::uint32_t use = *ring.uses(arena_row);
  if (use != (batch_echo ? 0 : expected.use)) {
    fail(descriptor, fmt::format("row {}: use {}, not {}", row, use, expected.use));
  }
  const bool replaced = (*ring.row_flags(arena_row) & shm::kRowReplaced) != 0;
  if (replaced != (wanted != expected.record)) fail(descriptor, "a wrong flag");
  std::array<std::byte, kFieldBytes> bytes{};
  write_field(wanted, bytes.data());
  if (std::memcmp(memory_->row(0, arena_row), bytes.data(), bytes.size()) != 0) {
    fail(descriptor, fmt::format("row {}: wrong bytes", row));
  }
  check_rest(descriptor, row, wanted);
}

void SimTrainer::check_rest(const shm::Descriptor& descriptor, std::uint32_t row,
                            std::uint64_t sample) {
  const shm::FieldEntry& entry = memory_->entry(1);
  const std::uint64_t batch_rows = plan_.spec().batch_rows;
  const auto* offsets = reinterpret_cast<const std::uint64_t*>(memory_->section(entry.offsets)) +
                        descriptor.slot * (batch_rows + 1) + row;
  const std::byte* values =
      memory_->section(entry.arena) + descriptor.slot * batch_rows * entry.row_bytes;
  const std::uint64_t wanted = data_set_.index().extent(sample).bytes - kFieldBytes;
  if (offsets[1] - offsets[0] != wanted || (row == 0 && offsets[0] != 0)) {
    return fail(descriptor, fmt::format("row {}: the rest is at {} to {}, of {} bytes", row,
                                        offsets[0], offsets[1], wanted));
  }
  const bool right = std::all_of(values + offsets[0], values + offsets[1],
                                 [&](std::byte byte) { return byte == rest_of(sample); });
  if (!right) fail(descriptor, fmt::format("row {}: wrong bytes in the rest", row));
}

// The record itself, or the first good one of its substitutes.
std::uint64_t SimTrainer::expected_sample(std::uint32_t epoch, std::uint64_t record) const {
  std::uint64_t sample = record;
  for (std::uint32_t attempt = 1; data_set_.is_bad(sample); ++attempt) {
    sample = engine::substitute_for(plan_, epoch, record, attempt);
  }
  return sample;
}

void SimTrainer::fail(const shm::Descriptor& descriptor, const std::string& what) {
  if (!fault_.empty()) return;
  fault_ = fmt::format("sequence {}, epoch {} row {}: {}", descriptor.sequence, descriptor.epoch,
                       descriptor.row, what);
}

}  // namespace echoline::simulation
