#include "reader.h"

#include <algorithm>
#include <string>

namespace echoline::client {
namespace {

Error broken(const std::string& what) {
  return {ECHOLINE_DATA_LOSS, "the daemon's ring is not valid: " + what};
}

std::string text(const Position& position) {
  return "epoch " + std::to_string(position.epoch) + ", row " + std::to_string(position.row);
}

}  // namespace

std::optional<std::uint64_t> Reader::epoch_rows() const {
  if (end_) return end_;
  if (has(shm::kRingVariable)) return std::nullopt;
  return changes_.rows(position_.epoch);
}

// After a look at `published`: whatever changed the rows below it is in the log.
Error Reader::look_at_factor() {
  if (changes_.update(position_.epoch)) return {};
  return broken("its log of factor changes");
}

bool Reader::epoch_is_over() const {
  const auto rows = epoch_rows();
  return rows && steps_between(cut_, position_.row, *rows) == 0;
}

void Reader::enter_next_epoch() {
  position_ = {position_.epoch + 1, 0};
  end_.reset();
  begun_ = false;
}

// The lowest row that the batch at the position, or a later one, can ask for.
std::uint64_t Reader::first_row_needed() const {
  if (has(shm::kRingBatchEcho)) return position_.row;
  const auto rows = epoch_rows();
  if (rows && position_.row < *rows) {
    const Slice slice = slice_of(cut_, std::min(cut_.batch_size, *rows - position_.row));
    return position_.row + slice.first_row();
  }
  return position_.row;
}

void Reader::note_end(const shm::Descriptor& descriptor) {
  if ((descriptor.flags & shm::kEndOfEpoch) == 0) return;
  end_ = descriptor.row +
         (has(shm::kRingBatchEcho) ? header().batch_rows : std::uint64_t{descriptor.valid_rows});
}

// Moves over descriptors of epochs and rows that lie behind.
Error Reader::skip_passed() {
  const std::uint64_t before = front_;
  const RingView& ring = attachment_->ring();
  Error error;
  for (; front_ < published_; ++front_) {
    const shm::Descriptor& d = ring.descriptor(front_);
    if (!ring.plausible(d, front_)) {
      error = broken("descriptor " + std::to_string(front_));
      break;
    }
    if (d.epoch > position_.epoch) {
      if (!epoch_is_over()) error = early_end(d);
      break;
    }
    if (d.epoch < position_.epoch) continue;
    note_end(d);
    if (d.row + header().batch_rows > first_row_needed()) break;
  }
  if (front_ != before) attachment_->cursor().advance(ring.writer(), front_);
  return error;
}

// The next epoch begins before the position's rows have come: right only where their number was
// open, or where they are the dropped tail.
Error Reader::early_end(const shm::Descriptor& descriptor) {
  const auto rows = epoch_rows();
  const std::uint64_t tail = std::max<std::uint64_t>(cut_.batch_size, header().batch_rows);
  const bool dropped = cut_.last == shm::kLastDrop && rows && *rows - position_.row < tail;
  if (rows && !dropped) {
    return broken("rows are missing from " + text(position_) + " on; epoch " +
                  std::to_string(descriptor.epoch) + " follows");
  }
  end_ = position_.row;
  return {};
}

Error Reader::lease_held() const {
  return {ECHOLINE_LEASE_HELD,
          "the trainer itself holds what the next batch needs: " +
              std::to_string(header().descriptors_live) +
              " batches are published and the oldest is not given back; copy batches that are kept "
              "(batch.copy() in Python), release them, or raise publish.slots"};
}

Error Reader::not_ready() {
  const auto blocker = attachment_->cursor().blocker(published_, header().descriptors_live);
  if (blocker == Cursor::Blocker::kOwn) return lease_held();
  blocked_by_other_ = blocker == Cursor::Blocker::kOtherThread;
  return {ECHOLINE_TIMEOUT, "no batch was ready in time"};
}

// Descriptors after front_ up to last_sequence must follow each other in the same epoch and in the
// arena.
Error Reader::check_run(std::uint64_t last_sequence) {
  const RingView& ring = attachment_->ring();
  const bool had_end = end_.has_value();
  for (std::uint64_t s = front_ + 1; s <= std::min(last_sequence, published_ - 1); ++s) {
    const shm::Descriptor& before = ring.descriptor(s - 1);
    const shm::Descriptor& d = ring.descriptor(s);
    if (!ring.plausible(d, s) || d.epoch != before.epoch ||
        d.row != before.row + header().batch_rows ||
        d.arena_row != before.arena_row + header().batch_rows) {
      return broken("descriptor " + std::to_string(s) + " doesn't follow the one before");
    }
    note_end(d);
    if (end_ && !had_end) return {ECHOLINE_CANCELLED, ""};
  }
  return last_sequence < published_ ? Error() : not_ready();
}

Error Reader::locate(Place& place, BatchFacts& facts) {
  if (front_ == published_) return not_ready();
  const RingView& ring = attachment_->ring();
  const shm::Descriptor& front = ring.descriptor(front_);
  const std::uint64_t stride = header().batch_rows;
  const auto rows = epoch_rows();
  std::uint64_t valid = cut_.batch_size;
  if (has(shm::kRingBatchEcho)) {
    valid = front.valid_rows;
  } else if (rows) {
    valid = std::min(valid, *rows - position_.row);
  }
  const Slice slice = slice_of(cut_, valid);
  if (slice.rows == 0) return broken("a short batch under last: drop");
  const std::uint64_t first_row = position_.row + slice.first_row();
  const std::uint64_t last_row = position_.row + slice.last_row() - 1;
  if (front.row > first_row) {
    return broken("rows are missing from " + text(position_) + " on; row " +
                  std::to_string(front.row) + " follows");
  }
  // Where the epoch's end is open, a full batch must be seen to be one.
  const std::uint64_t row_awaited = rows ? last_row : position_.row + cut_.batch_size - 1;
  if (Error e = check_run(front_ + (row_awaited - front.row) / stride); !e.ok()) return e;
  place.first_sequence = front_ + (first_row - front.row) / stride;
  place.last_sequence = front_ + (last_row - front.row) / stride;
  const shm::Descriptor& first = ring.descriptor(place.first_sequence);
  const shm::Descriptor& last = ring.descriptor(place.last_sequence);
  if (last_row - last.row >= last.valid_rows) return broken("a batch has fewer rows than planned");
  place.row_in_slot = static_cast<std::uint32_t>(first_row - first.row);
  place.slot = first.slot;
  place.batch_use = first.batch_use;
  place.arena_row = first.arena_row + place.row_in_slot;
  facts.position = position_;
  facts.step = position_.row / cut_.batch_size;
  facts.slice = slice;
  const auto rows_now = epoch_rows();
  facts.last = rows_now && steps_between(cut_, position_.row + cut_.batch_size, *rows_now) == 0;
  return {};
}

void Reader::step_over(const BatchFacts& facts, std::uint64_t last_sequence) {
  const std::uint64_t front_row = attachment_->ring().descriptor(front_).row;
  jumped_ = false;
  if (facts.last) {
    enter_next_epoch();
    pending_end_ = true;
    front_ = last_sequence + 1;
  } else {
    position_.row += cut_.batch_size;
    begun_ = true;
    const std::uint64_t ahead = (first_row_needed() - front_row) / header().batch_rows;
    front_ = std::min(front_ + ahead, published_);
  }
  attachment_->cursor().give_out(attachment_->ring().writer(), front_, position_.epoch,
                                 position_.row);
}

Error Reader::leave_kept_behind() {
  if (Error e = attachment_->freeze(); !e.ok()) return e;
  std::shared_ptr<Attachment> anew;
  if (Error e = Attachment::open_again(*attachment_, anew); !e.ok()) return e;
  attachment_ = std::move(anew);
  changes_.follow(attachment_->ring().factor_log(), header().factor, header().rows_per_epoch);
  return look_at_factor();
}

Error Reader::try_next(std::unique_ptr<Batch>& batch) {
  if (pending_end_) {
    pending_end_ = false;
    return {ECHOLINE_END_OF_EPOCH, "the epoch has ended"};
  }
  published_ = shm::read_published(attachment_->ring().writer());
  if (Error e = look_at_factor(); !e.ok()) return e;
  for (;;) {
    if (!epoch_is_over()) {
      if (Error e = skip_passed(); !e.ok()) return e;
    }
    if (epoch_is_over()) {
      enter_next_epoch();
      return {ECHOLINE_END_OF_EPOCH, "the epoch has ended"};
    }
    Place place;
    BatchFacts facts;
    if (Error e = locate(place, facts); !e.ok()) {
      if (e.code() == ECHOLINE_CANCELLED) continue;
      return e;
    }
    batch = Batch::make(attachment_, place, facts);
    step_over(facts, place.last_sequence);
    return {};
  }
}

}  // namespace echoline::client
