#include "engine/open/seek_writer.h"

namespace echoline::engine {
namespace {

// Entries wait that long for others, so that a write has many of them.
constexpr std::chrono::seconds kWriteInterval{2};

}  // namespace

SeekWriter::SeekWriter(seek::Indexes& indexes) : indexes_(indexes) {
  indexes_.set_on_new([this] { note_new(); });
  thread_.start();
}

bool SeekWriter::do_work() {
  {
    const MutexLock lock(mutex_);
    if (!has_new_ || std::chrono::steady_clock::now() < due_) return false;
    has_new_ = false;
  }
  indexes_.write();
  return true;
}

void SeekWriter::wait() {
  MutexLock lock(mutex_);
  if (!woken_ && has_new_) changed_.wait_until(lock, due_);
  if (!woken_ && !has_new_) changed_.wait(lock);
  woken_ = false;
}

void SeekWriter::wake() {
  {
    const MutexLock lock(mutex_);
    woken_ = true;
  }
  changed_.notify_one();
}

void SeekWriter::note_new() {
  {
    const MutexLock lock(mutex_);
    has_new_ = true;
    due_ = std::chrono::steady_clock::now() + kWriteInterval;
  }
  changed_.notify_one();
}

}  // namespace echoline::engine
