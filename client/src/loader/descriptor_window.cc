#include "loader/descriptor_window.h"

#include <algorithm>
#include <string>

#include "echoline/shm/cursor_steps.h"

namespace echoline::client {
namespace {

Error broken(const std::string& what) {
  return {ECHOLINE_DATA_LOSS, "the daemon's ring is not valid: " + what};
}

std::string text(const Position& position) {
  return "epoch " + std::to_string(position.epoch) + ", row " + std::to_string(position.row);
}

}  // namespace

void DescriptorWindow::attach(std::shared_ptr<Attachment> attachment) {
  attachment_ = std::move(attachment);
  // The daemon keeps the slots from here on for this trainer.
  front_ = attachment_->reply().first_sequence;
  published_ = 0;
}

void DescriptorWindow::refresh() { published_ = shm::read_published(attachment_->ring().writer()); }

void DescriptorWindow::note_end(StreamPosition& position, const shm::Descriptor& descriptor) const {
  if ((descriptor.flags & shm::kEndOfEpoch) == 0) return;
  // A short last batch that is fixed still takes a whole step of the row numbers.
  const bool fixed = position.has_fixed_batches();
  position.set_epoch_rows(descriptor.row +
                          (fixed ? header().batch_rows : std::uint64_t{descriptor.valid_rows}));
}

Error DescriptorWindow::skip_passed(StreamPosition& position) {
  const std::uint64_t before = front_;
  const RingView& ring = attachment_->ring();
  Error error;
  for (; front_ < published_; ++front_) {
    const shm::Descriptor& d = ring.descriptor(front_);
    // Checked although the daemon wrote it: a broken daemon must not lead outside the mapping.
    if (!ring.is_valid(d, front_)) {
      error = broken("descriptor " + std::to_string(front_));
      break;
    }
    if (d.epoch > position.current().epoch) {
      // Rows of the present epoch are missing, or its end was not known.
      if (!position.epoch_is_over()) error = handle_early_end(position, d);
      break;
    }
    // Of an epoch that is over.
    if (d.epoch < position.current().epoch) continue;
    note_end(position, d);
    if (d.row + header().batch_rows > position.first_row_needed()) break;
  }
  // One store for all of them gives the slots back.
  if (front_ != before) attachment_->cursor().advance(ring.writer(), front_);
  return error;
}

// A descriptor of a later epoch follows before the rows at the position. That is correct in two
// cases: the length of the epoch was not known, or the missing rows are the tail that `last: drop`
// leaves out.
Error DescriptorWindow::handle_early_end(StreamPosition& position,
                                         const shm::Descriptor& descriptor) const {
  const RankSlice& slice = position.slice();
  const Position& current = position.current();
  const auto rows = position.epoch_rows();
  const std::uint64_t tail = std::max<std::uint64_t>(slice.batch_size, header().batch_rows);
  const bool dropped = slice.last == shm::kLastDrop && rows && *rows - current.row < tail;
  if (rows && !dropped) {
    return broken("rows are missing from " + text(current) + " on; epoch " +
                  std::to_string(descriptor.epoch) + " follows");
  }
  position.set_epoch_rows(current.row);
  return {};
}

Error DescriptorWindow::lease_held() const {
  return {ECHOLINE_LEASE_HELD,
          "the trainer itself holds what the next batch needs: " +
              std::to_string(header().descriptors_live) +
              " batches are published and the oldest is not given back; copy batches that are kept "
              "(batch.copy() in Python), release them, or raise publish.slots"};
}

Error DescriptorWindow::not_ready() {
  // A batch that this trainer holds may be the reason.
  const auto blocker = attachment_->cursor().blocker(published_, header().descriptors_live);
  if (blocker == Cursor::Blocker::kOwn) return lease_held();
  blocked_by_other_ = blocker == Cursor::Blocker::kOtherThread;
  return {ECHOLINE_TIMEOUT, "no batch was ready in time"};
}

Error DescriptorWindow::check_run(StreamPosition& position, std::uint64_t last_sequence) {
  const RingView& ring = attachment_->ring();
  const bool end_was_known = position.epoch_end_is_known();
  // The front was checked by skip_passed. Here the others are compared with the one before.
  for (std::uint64_t s = front_ + 1; s <= std::min(last_sequence, published_ - 1); ++s) {
    const shm::Descriptor& before = ring.descriptor(s - 1);
    const shm::Descriptor& d = ring.descriptor(s);
    if (!ring.is_valid(d, s) || d.epoch != before.epoch ||
        d.row != before.row + header().batch_rows ||
        d.arena_row != before.arena_row + header().batch_rows) {
      return broken("descriptor " + std::to_string(s) + " doesn't follow the one before");
    }
    note_end(position, d);
    // The caller starts over, because the end changes which rows it needs.
    if (position.epoch_end_is_known() && !end_was_known) return {ECHOLINE_CANCELLED, ""};
  }
  return last_sequence < published_ ? Error() : not_ready();
}

Error DescriptorWindow::locate(StreamPosition& position, RingLocation& location, BatchInfo& info) {
  if (front_ == published_) return not_ready();
  const RingView& ring = attachment_->ring();
  const RankSlice& slice = position.slice();
  const Position current = position.current();
  const shm::Descriptor& front = ring.descriptor(front_);
  const std::uint64_t stride = header().batch_rows;
  const auto rows = position.epoch_rows();
  // Of the present batch: in a bucket, batches can have fewer rows than the largest ones.
  RankSlice present = slice;
  std::uint64_t valid = slice.batch_size;
  if (position.has_fixed_batches()) {
    valid = front.valid_rows;
    if (front.whole_rows > 0) present.batch_size = front.whole_rows;
  } else if (rows) {
    valid = std::min(valid, *rows - current.row);
  }
  info.rank_rows = rank_rows(present, valid);
  info.bucket_length = front.bucket_length;
  if (info.rank_rows.rows == 0) return broken("a short batch under last: drop");
  const std::uint64_t first_row = current.row + info.rank_rows.first_row();
  const std::uint64_t last_row = current.row + info.rank_rows.last_row() - 1;
  if (front.row > first_row) {
    return broken("rows are missing from " + text(current) + " on; row " +
                  std::to_string(front.row) + " follows");
  }
  // If the end of the epoch is not known, wait for the last row of all ranks: only then is it
  // certain that this batch is a full one.
  const std::uint64_t row_awaited = rows ? last_row : current.row + slice.batch_size - 1;
  const std::uint64_t last_awaited = front_ + (row_awaited - front.row) / stride;
  if (Error e = check_run(position, last_awaited); !e.ok()) return e;
  location.first_sequence = front_ + (first_row - front.row) / stride;
  location.last_sequence = front_ + (last_row - front.row) / stride;
  const shm::Descriptor& first = ring.descriptor(location.first_sequence);
  const shm::Descriptor& last = ring.descriptor(location.last_sequence);
  // A short descriptor that ends the epoch too early.
  if (last_row - last.row >= last.valid_rows) return broken("a batch has fewer rows than planned");
  location.row_in_slot = static_cast<std::uint32_t>(first_row - first.row);
  location.slot = first.slot;
  location.batch_use = first.batch_use;
  location.arena_row = first.arena_row + location.row_in_slot;
  info.position = current;
  info.step = current.row / slice.batch_size;
  // check_run may have found the end of the epoch.
  const auto rows_now = position.epoch_rows();
  info.last = rows_now && steps_between(slice, current.row + slice.batch_size, *rows_now) == 0;
  return {};
}

void DescriptorWindow::advance(StreamPosition& position, const BatchInfo& info,
                               std::uint64_t last_sequence) {
  const std::uint64_t front_row = attachment_->ring().descriptor(front_).row;
  position.advance(info.last);
  // Ranks with fewer rows than a descriptor share descriptors: the next batch may need this one
  // again.
  if (info.last) {
    front_ = last_sequence + 1;
  } else {
    const std::uint64_t ahead = (position.first_row_needed() - front_row) / header().batch_rows;
    // Never beyond what is published.
    front_ = std::min(front_ + ahead, published_);
  }
  attachment_->cursor().record_batch(attachment_->ring().writer(), front_, position.current().epoch,
                                     position.current().row);
}

}  // namespace echoline::client
