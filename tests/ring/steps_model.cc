#include "steps_model.h"

#include <unordered_set>
#include <vector>

namespace echoline::ring {
namespace {

// The next move of the writer.
enum WriterAt : std::uint8_t {
  kLook,  // reads the cursors, one reader per move
  kDecide,
  kWriteSlot,
  kPublish,
  kRing,
  kAskReaders,  // checks whether readers wait, one per move
  kWakeReaders,
  kSayWaiting,
  kReadBell,
  kLastLook,
  kSleep,
  kUp,
  kSayAwake,
  kWriteEnd,
  kRingEnd,
  kWakeEnd,
  kWriterDone,
};

enum ReaderAt : std::uint8_t {
  kReadState,
  kReadPublished,
  kBeginWait,
  kReadWriterBell,
  kLookPublished,
  kLookState,
  kReaderSleep,
  kReaderUp,
  kReadSlot,
  kReadSlotAgain,
  kWriteReleased,
  kRingCursor,
  kAskWriter,
  kWakeWriter,
  kReaderDone,
};

void wake_readers(ModelState& state) {
  for (ModelReader& reader : state.readers) reader.asleep = 0;
}

template <typename T>
void append(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

ModelState Model::start() const {
  ModelState state;
  shm::write_state(state.page, shm::kWriterRunning);
  return state;
}

bool Model::finished(const ModelState& state, int actor) const {
  return actor == 0 ? state.writer.at == kWriterDone
                    : state.readers[static_cast<std::size_t>(actor - 1)].at == kReaderDone;
}

bool Model::can_move(const ModelState& state, int actor) const {
  if (finished(state, actor)) return false;
  return actor == 0 ? state.writer.asleep_on == 0
                    : state.readers[static_cast<std::size_t>(actor - 1)].asleep == 0;
}

std::string Model::move(ModelState& state, int actor) const {
  return actor == 0 ? move_writer(state) : move_reader(state, actor - 1);
}

std::string Model::move_writer(ModelState& state) const {
  ModelWriter& w = state.writer;
  const int looked_at = fault == Fault::kWriterNoReaderCheck ? 1 : reader_count;
  switch (w.at) {
    case kLook: {
      const auto released = static_cast<std::uint8_t>(shm::read_released(state.cursors[w.reader]));
      if (released > w.sequence) return "a reader released more than is published";
      if (w.reader == 0 || released < w.least) {
        w.least = released;
        w.slowest = w.reader;
      }
      if (++w.reader == looked_at) w.at = kDecide;
      return "";
    }
    case kDecide:
      w.reader = 0;
      if (w.sequence == batches) {
        w.at = kWriteEnd;
      } else if (w.sequence - w.least < capacity) {
        w.at = fault == Fault::kPublishedBeforeSlot ? kPublish : kWriteSlot;
      } else {
        w.at = kSayWaiting;
      }
      return "";
    case kWriteSlot:
      for (int i = 0; i < reader_count; ++i)
        if (state.readers[static_cast<std::size_t>(i)].next + capacity <= w.sequence)
          return "a slot was written over before every reader had released it";
      state.slots[w.sequence % static_cast<unsigned>(capacity)] =
          static_cast<std::uint8_t>(w.sequence + 1);
      w.at = fault == Fault::kPublishedBeforeSlot ? kRing : kPublish;
      if (fault == Fault::kBellBeforePublished) w.at = kRing;
      return "";
    default:
      if (w.at < kSayWaiting)
        move_writer_publish(state);
      else
        move_writer_sleep(state);
      return "";
  }
}

void Model::move_writer_publish(ModelState& state) const {
  ModelWriter& w = state.writer;
  const auto count = static_cast<std::uint64_t>(w.sequence) + 1;
  switch (w.at) {
    case kPublish:
      shm::write_published(state.page, count);
      w.at = fault == Fault::kPublishedBeforeSlot ? kWriteSlot : kRing;
      if (fault == Fault::kBellBeforePublished) w.at = kAskReaders;
      return;
    case kRing:
      shm::ring_writer_bell(state.page);
      w.at = fault == Fault::kBellBeforePublished ? kPublish : kAskReaders;
      return;
    case kAskReaders:
      if (shm::reader_waits(state.cursors[w.reader])) w.wake = 1;
      if (++w.reader == reader_count) w.at = kWakeReaders;
      return;
    default:  // kWakeReaders
      if (w.wake != 0) wake_readers(state);
      w.wake = w.reader = w.slowest = w.least = 0;
      ++w.sequence;
      w.at = kLook;
  }
}

void Model::move_writer_sleep(ModelState& state) const {
  ModelWriter& w = state.writer;
  const shm::CursorPage& cursor = state.cursors[w.slowest];
  switch (w.at) {
    case kSayWaiting:
      shm::set_writer_waiting(state.page, fault != Fault::kWriterNoFlag);
      w.at = fault == Fault::kWriterBellAfterLook ? kLastLook : kReadBell;
      return;
    case kReadBell:
      w.bell = shm::read_cursor_bell(cursor);
      w.at = fault == Fault::kWriterBellAfterLook ? kSleep : kLastLook;
      return;
    case kLastLook:
      w.at = shm::read_released(cursor) == w.least ? kSleep : kSayAwake;
      if (fault == Fault::kWriterBellAfterLook && w.at == kSleep) w.at = kReadBell;
      return;
    case kSleep:
      if (shm::read_cursor_bell(cursor) == w.bell)
        w.asleep_on = static_cast<std::uint8_t>(w.slowest + 1);
      w.at = kUp;
      return;
    case kUp:
    case kSayAwake:
      shm::set_writer_waiting(state.page, false);
      w.bell = 0;
      w.slowest = w.least = 0;
      w.at = kLook;
      return;
    case kWriteEnd:
      shm::write_state(state.page, shm::kWriterEnded);
      w.at = kRingEnd;
      return;
    case kRingEnd:
      shm::ring_writer_bell(state.page);
      w.at = kWakeEnd;
      return;
    default:  // kWakeEnd
      wake_readers(state);
      w.at = kWriterDone;
  }
}

std::string Model::move_reader(ModelState& state, int index) const {
  ModelReader& r = state.readers[static_cast<std::size_t>(index)];
  const std::uint8_t slot = state.slots[r.next % static_cast<unsigned>(capacity)];
  switch (r.at) {
    case kReadState:
      r.ended = shm::read_state(state.page) != shm::kWriterRunning;
      r.at = kReadPublished;
      return "";
    case kReadPublished:
      r.seen = static_cast<std::uint8_t>(shm::read_published(state.page));
      r.at = r.seen > r.next ? kReadSlot : r.ended != 0 ? kReaderDone : kBeginWait;
      return r.at == kReaderDone && r.next != batches ? "a reader saw the end before the last batch"
                                                      : "";
    case kReadSlot:
    case kReadSlotAgain:
      if (slot != r.next + 1) return "a reader found another batch than the one that is due";
      r.at = r.at == kReadSlot ? kReadSlotAgain : kWriteReleased;
      return "";
    default:
      if (r.at <= kReaderUp)
        move_reader_wait(state, index);
      else
        move_reader_release(state, index);
      return "";
  }
}

void Model::move_reader_wait(ModelState& state, int index) const {
  ModelReader& r = state.readers[static_cast<std::size_t>(index)];
  shm::CursorPage& cursor = state.cursors[static_cast<std::size_t>(index)];
  switch (r.at) {
    case kBeginWait:
      shm::begin_wait(cursor, 1);
      r.at = kReadWriterBell;
      return;
    case kReadWriterBell:
      r.bell = shm::read_writer_bell(state.page);
      r.at = fault == Fault::kReaderNoLastLook ? kReaderSleep : kLookPublished;
      return;
    case kLookPublished:
      r.at = shm::read_published(state.page) == r.seen ? kLookState : kReaderUp;
      return;
    case kLookState:
      r.at = shm::read_state(state.page) == shm::kWriterRunning ? kReaderSleep : kReaderUp;
      return;
    case kReaderSleep:
      if (shm::read_writer_bell(state.page) == r.bell) r.asleep = 1;
      r.at = kReaderUp;
      return;
    default:  // kReaderUp
      shm::end_wait(cursor, 1);
      r.bell = 0;
      r.at = kReadState;
  }
}

void Model::move_reader_release(ModelState& state, int index) const {
  ModelReader& r = state.readers[static_cast<std::size_t>(index)];
  shm::CursorPage& cursor = state.cursors[static_cast<std::size_t>(index)];
  const bool swapped = fault == Fault::kReaderBellAfterWake;
  switch (r.at) {
    case kWriteReleased:
      ++r.next;
      r.ended = r.seen = 0;
      shm::write_released(cursor, r.next);
      r.at = swapped ? kAskWriter : kRingCursor;
      return;
    case kRingCursor:
      shm::ring_cursor_bell(cursor, r.next);
      r.at = swapped ? kReadState : kAskWriter;
      return;
    case kAskWriter:
      r.wake = shm::writer_waits(state.page);
      r.at = kWakeWriter;
      return;
    default:  // kWakeWriter
      if (r.wake != 0 && state.writer.asleep_on == index + 1) state.writer.asleep_on = 0;
      r.wake = 0;
      r.at = swapped ? kRingCursor : kReadState;
  }
}

std::string Model::key(const ModelState& state) const {
  std::string key;
  append(key, static_cast<std::uint8_t>(state.page.published));
  append(key, static_cast<std::uint8_t>(state.page.bell));
  append(key, static_cast<std::uint8_t>(state.page.state | state.page.waiting << 4));
  append(key, state.slots);
  append(key, state.writer);
  for (int i = 0; i < reader_count; ++i) {
    const shm::CursorPage& cursor = state.cursors[static_cast<std::size_t>(i)];
    append(key, static_cast<std::uint8_t>(cursor.released));
    append(key, static_cast<std::uint8_t>(cursor.bell));
    append(key, static_cast<std::uint8_t>(cursor.waiting_since_ns));
    append(key, state.readers[static_cast<std::size_t>(i)]);
  }
  return key;
}

SearchResult search(const Model& model) {
  std::unordered_set<std::string> seen;
  std::vector<ModelState> open{model.start()};
  seen.insert(model.key(open.back()));
  while (!open.empty()) {
    const ModelState state = open.back();
    open.pop_back();
    bool moved = false;
    bool all_finished = true;
    for (int actor = 0; actor <= model.reader_count; ++actor) {
      all_finished = all_finished && model.finished(state, actor);
      if (!model.can_move(state, actor)) continue;
      moved = true;
      ModelState after = state;
      if (const std::string wrong = model.move(after, actor); !wrong.empty())
        return {wrong, seen.size()};
      if (seen.insert(model.key(after)).second) open.push_back(after);
    }
    if (!moved && !all_finished) return {"everybody sleeps: a wake-up was lost", seen.size()};
  }
  return {"", seen.size()};
}

}  // namespace echoline::ring
