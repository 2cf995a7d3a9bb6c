#include "cuda/copy_finisher.h"

#include <new>
#include <utility>

#include "cuda/no_memory.h"

namespace echoline::client::cuda {

bool CopyFinisher::do_work() {
  InFlightCopy* const copy = oldest();
  if (copy == nullptr) return false;
  bool ended = false;
  float milliseconds = 0;
  Error e = look(*copy, ended, milliseconds);
  if (e.ok() && !ended) return false;
  // After an error nobody knows whether the device still reads the batch.
  if (!e.ok()) resources_.device->driver().stream_synchronize(resources_.streams.copy.get());
  finish(*copy, milliseconds);

  const std::lock_guard lock(table_.mutex);
  copy->slot->copying = false;
  table_.in_flight.pop_front();
  // It waits for a free slot, or for slots of the ring.
  table_.for_copier.notify_one();
  table_.for_trainers.notify_all();
  if (!e.ok()) table_.fail(std::move(e));
  return true;
}

bool CopyFinisher::wait_for_work() {
  {
    std::unique_lock lock(table_.mutex);
    table_.for_finisher.wait(lock, [&] {
      // As long as the copier runs, another copy may come.
      return !table_.in_flight.empty() || (!table_.failure.ok() && !table_.copier_runs);
    });
    if (table_.in_flight.empty()) {
      table_.finisher_runs = false;
      table_.wake_all();
      return false;
    }
  }
  // Without the mutex, because this wait has no limit.
  try {
    wait_error_ = oldest()->slot->buffer->wait_copied();
  } catch (const std::bad_alloc&) {  // thrown while making an error's text
    wait_error_ = no_memory();
  }
  return true;
}

// The entry stays valid without the lock: elements of a list do not move, and only this thread
// removes them.
InFlightCopy* CopyFinisher::oldest() const {
  const std::lock_guard lock(table_.mutex);
  return table_.in_flight.empty() ? nullptr : &table_.in_flight.front();
}

Error CopyFinisher::look(const InFlightCopy& copy, bool& ended, float& milliseconds) {
  // The oldest copy is still the same: only this thread removes copies.
  if (!wait_error_.ok()) return std::exchange(wait_error_, {});
  try {
    Error e = copy.slot->buffer->is_copied(ended);
    if (e.ok() && ended) e = copy.slot->buffer->copy_time(milliseconds);
    return e;
  } catch (const std::bad_alloc&) {
    return no_memory();
  }
}

// The slot is still `copying`: nobody else loads its buffer meanwhile.
void CopyFinisher::finish(InFlightCopy& copy, float milliseconds) {
  if (copy.direct) copy.pages->end_copy();
  copy.batch.reset();
  meter_.count_copy(copy.slot->buffer->copied_bytes(), milliseconds);
  copy.pages->report(meter_.figures());
  copy.pages.reset();
}

}  // namespace echoline::client::cuda
