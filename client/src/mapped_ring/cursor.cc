#include "mapped_ring/cursor.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

namespace echoline::client {
namespace {

// A value that differs between living threads; cheaper than a system call for the thread id.
const void* this_thread() {
  static thread_local char mark;
  return &mark;
}

}  // namespace

Error Cursor::open(int fd, std::uint32_t descriptor_count, std::uint64_t first_sequence) {
  struct stat status {};
  if (fstat(fd, &status) != 0)
    return errno_error(errno, "can't get the size of the cursor's memory");
  if (status.st_size < static_cast<off_t>(sizeof(shm::CursorPage))) {
    return {ECHOLINE_DATA_LOSS, "the cursor page that the daemon sent is too short"};
  }
  if (Error e = mapping_.reserve(shm::kPageBytes); !e.ok()) return e;
  if (Error e = mapping_.map(0, fd, 0, shm::kPageBytes, true); !e.ok()) return e;
  page_ = reinterpret_cast<shm::CursorPage*>(mapping_.data());
  // At most descriptor_count descriptors are published and not released, so indices do not collide.
  holds_.assign(descriptor_count, {});
  released_ = front_ = first_sequence;
  return {};
}

void Cursor::hold(std::uint64_t first, std::uint64_t last) {
  const std::lock_guard lock(mutex_);
  for (std::uint64_t s = first; s <= last; ++s) {
    Hold& hold = holds_[s % holds_.size()];
    ++hold.batches;
    hold.taker = this_thread();
  }
}

void Cursor::release(const shm::WriterPage& writer, std::uint64_t first, std::uint64_t last) {
  const std::lock_guard lock(mutex_);
  for (std::uint64_t s = first; s <= last; ++s) --holds_[s % holds_.size()].batches;
  release_prefix(writer);
}

void Cursor::advance(const shm::WriterPage& writer, std::uint64_t front) {
  const std::lock_guard lock(mutex_);
  // Never backwards: another call may have moved it further.
  front_ = std::max(front_, front);
  release_prefix(writer);
}

void Cursor::release_prefix(const shm::WriterPage& writer) {
  // The daemon knows one number, "all below are released". So a descriptor that is released early
  // waits for the ones before it.
  std::uint64_t count = released_;
  while (count < front_ && holds_[count % holds_.size()].batches == 0) ++count;
  if (count == released_) return;
  released_ = count;
  shm::release(writer, *page_, count);
}

Cursor::Blocker Cursor::blocker(std::uint64_t published, std::uint32_t live) {
  const std::lock_guard lock(mutex_);
  // Nothing is held, or the daemon still has room.
  if (released_ >= front_ || published - released_ < live) return Blocker::kNone;
  // The batch in question holds descriptor released_, the oldest one that is not given back.
  const bool own = holds_[released_ % holds_.size()].taker == this_thread();
  return own ? Blocker::kOwn : Blocker::kOtherThread;
}

void Cursor::report_device(const shm::DeviceFigures& figures) {
  const std::lock_guard lock(mutex_);
  shm::write_device(*page_, figures);
}

void Cursor::add_losses(const shm::LossFigures& more) {
  const std::lock_guard lock(mutex_);
  ++losses_.reports;
  for (std::size_t use = 0; use < shm::kLossUses; ++use) {
    losses_.rows[use] += more.rows[use];
    losses_.sums[use] += more.sums[use];
  }
  shm::write_losses(*page_, losses_);
}

void Cursor::begin_wait(std::uint64_t since_ns) {
  const std::lock_guard lock(mutex_);
  if (waiters_++ == 0) shm::begin_wait(*page_, since_ns);
}

void Cursor::end_wait() {
  const std::lock_guard lock(mutex_);
  if (--waiters_ == 0) shm::end_wait(*page_, shm::futex_clock_ns());
}

void Cursor::add_wait(std::uint64_t waited_ns) {
  const std::lock_guard lock(mutex_);
  shm::add_wait(*page_, waited_ns);
}

void Cursor::record_skip(const Position& from, const Position& to) {
  const std::lock_guard lock(mutex_);
  // A skip that begins where the one before ended extends it: the daemon sees one run.
  if (from != skip_end_) skip_begin_ = from;
  skip_end_ = to;
  shm::write_left_out(*page_, {{skip_begin_.epoch, skip_begin_.row}, {to.epoch, to.row}});
  shm::write_next(*page_, to.epoch, to.row);
}

void Cursor::record_batch(const shm::WriterPage& writer, std::uint64_t front,
                          std::uint32_t next_epoch, std::uint64_t next_row) {
  const std::lock_guard lock(mutex_);
  front_ = std::max(front_, front);
  // The position before the release: when the daemon sees a free slot, it sees the new position,
  // too.
  shm::write_batches(*page_, ++batches_);
  shm::write_next(*page_, next_epoch, next_row);
  release_prefix(writer);
}

}  // namespace echoline::client
