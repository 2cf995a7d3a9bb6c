#include "ring/readers.h"

#include <unistd.h>

#include <algorithm>
#include <boost/interprocess/exceptions.hpp>
#include <cerrno>

#include "echoline/shm/cursor_steps.h"
#include "ring/memory.h"

namespace echoline::ring {
namespace {

namespace bip = boost::interprocess;

// A word that the trainer writes at any time: one atomic load, so the value is not mixed.
template <typename T>
T claim(const T& value) {
  return shm::word(value).load(std::memory_order_relaxed);
}

}  // namespace

Result<std::shared_ptr<Cursor>> Cursor::create() {
  auto cursor = std::make_shared<Cursor>();
  ECHOLINE_ASSIGN(cursor->fd_, make_shared_memory("echoline-cursor", shm::kPageBytes));
  // Without the seal a peer could truncate the page; the daemon's next read would raise SIGBUS.
  ECHOLINE_TRY(seal_shared_memory(cursor->fd(), Sealing::kSize));
  try {
    cursor->region_ =
        // Read-only: the trainer owns the page, and the daemon only reads what it claims.
        bip::mapped_region(Mappable{cursor->fd()}, bip::read_only, 0, shm::kPageBytes);
  } catch (const bip::interprocess_exception& error) {
    return errno_status(error.get_native_error(), "mapping a reader's cursor");
  }
  return cursor;
}

Status Cursor::start(std::uint64_t id, std::uint64_t first_sequence, plan::Position next) {
  shm::CursorPage page{};
  page.released = first_sequence;
  page.next_epoch = next.epoch;
  page.next_row = next.row;
  // The bell begins at the released count, as if the reader had released just that much.
  page.bell = static_cast<std::uint32_t>(first_sequence);
  // pwrite, because the daemon's mapping of a cursor is read-only.
  if (pwrite(fd(), &page, sizeof page, 0) != static_cast<ssize_t>(sizeof page))
    return errno_status(errno, "writing a reader's first cursor");
  id_ = id;
  released_ = seen_ = first_sequence;
  return {};
}

const shm::CursorPage& Cursor::page() const {
  return *static_cast<const shm::CursorPage*>(region_.get_address());
}

std::uint64_t Cursor::take_claim(const std::atomic<std::uint64_t>& published) {
  // The claim is read before `published`, see the header.
  seen_ = shm::read_released(page());
  if (seen_ < released_ || seen_ > published.load(std::memory_order_acquire)) misbehaved_ = true;
  // After one impossible claim all later ones are ignored: its slots stay held until it is removed.
  if (!misbehaved_) released_ = seen_;
  return released_;
}

// The trainer may write meanwhile, so position and range can be a mixture of two writes. Who acts
// on them looks twice (engine/jobs/rank_events.cc).
ReaderView Cursor::view() const {
  ReaderView view;
  view.released = released_;
  view.waiting_since_ns = claim(page().waiting_since_ns);
  view.wait_ns = claim(page().wait_ns);
  view.batches = claim(page().batches);
  view.next = next();
  const shm::LeftOut out = shm::read_left_out(page());
  view.left_out_begin = {out.left.epoch, out.left.row};
  view.left_out_end = {out.landed.epoch, out.landed.row};
  view.device = shm::read_device(page());
  view.losses = shm::read_losses(page());
  view.misbehaved = misbehaved_;
  return view;
}

plan::Position Cursor::next() const {
  const shm::NextPlace place = shm::read_next(page());
  return {place.epoch, place.row};
}

std::size_t Readers::refresh() {
  std::size_t slowest = 0;
  std::uint64_t least = 0;
  for (std::size_t i = 0; i < cursors_.size(); ++i) {
    const std::uint64_t released = cursors_[i]->take_claim(published_);
    if (i != 0 && released >= least) continue;
    least = released;
    slowest = i;
    // Without readers the floor stays: it must never decrease.
  }
  if (!cursors_.empty()) floor_ = std::max(floor_, least);
  return slowest;
}

Result<Reader> Readers::add(std::uint64_t first_sequence, plan::Position next) {
  // Created before taking the lock: the writer takes it for each batch and must not wait for system
  // calls.
  ECHOLINE_ASSIGN(std::shared_ptr<Cursor> cursor, Cursor::create());
  const MutexLock lock(mutex_);
  // Choosing `first` and adding the cursor happen under one lock, so that floor_ can't rise above
  // `first` in between.
  refresh();
  const std::uint64_t end = published_.load(std::memory_order_acquire);
  // Not before the floor: those slots may be overwritten already. Not beyond the end.
  const std::uint64_t first = std::clamp(first_sequence, floor_, end);
  ECHOLINE_TRY(cursor->start(next_id_++, first, next));
  cursors_.push_back(std::move(cursor));
  return Reader{cursors_.back()->id(), first, cursors_.back()->fd()};
}

void Readers::remove(std::uint64_t id) {
  const MutexLock lock(mutex_);
  // The last claims count: what the reader released before it was removed stays released.
  refresh();
  std::erase_if(cursors_, [id](const auto& cursor) { return cursor->id() == id; });
}

std::uint64_t Readers::released() {
  const MutexLock lock(mutex_);
  refresh();
  return floor_;
}

Readers::Slowest Readers::slowest() {
  const MutexLock lock(mutex_);
  // The cursor is shared: it stays mapped while the writer sleeps on it, also if it is removed.
  const std::size_t slowest = refresh();
  if (cursors_.empty()) return {};
  return {cursors_[slowest], cursors_[slowest]->seen()};
}

bool Readers::any_waits() const {
  const MutexLock lock(mutex_);
  return std::any_of(cursors_.begin(), cursors_.end(),
                     [](const auto& cursor) { return shm::reader_waits(cursor->page()); });
}

std::optional<plan::Position> Readers::next_wanted() const {
  const MutexLock lock(mutex_);
  // As claimed. A wrong claim harms no other reader: the least position counts, and slots are held
  // by `released`.
  std::optional<plan::Position> least;
  for (const auto& cursor : cursors_) {
    const plan::Position next = cursor->next();
    if (!least || next < *least) least = next;
  }
  return least;
}

ReaderView Readers::view(std::uint64_t id) {
  const MutexLock lock(mutex_);
  refresh();
  for (const auto& cursor : cursors_)
    if (cursor->id() == id) return cursor->view();
  // Removed meanwhile.
  return {};
}

}  // namespace echoline::ring
