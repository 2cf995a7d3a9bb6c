// A model of one writer and its readers, made of the real cursor steps on real pages, in which each
// atomic access is a move of its own and the kernel's futex is replaced by a sleeper's flag without
// any time-out. All orders of moves are tried: a lost wake-up is then a state in which nobody can
// move.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "echoline/shm/cursor_steps.h"

namespace echoline::ring {

inline constexpr int kModelReadersMax = 2;
inline constexpr int kModelCapacityMax = 4;

// A step left out or moved, to see that the search finds what it is for.
enum class Fault {
  kNone,
  kReaderBellAfterWake,  // a release wakes the writer before it changes the bell
  kWriterBellAfterLook,  // the writer reads the bell to sleep on after its last look
  kWriterNoFlag,         // the writer doesn't say that it waits
  kReaderNoLastLook,     // a reader sleeps without looking again after it said that it waits
  kWriterNoReaderCheck,  // the writer takes one reader's cursor for all
  kPublishedBeforeSlot,  // the writer publishes before it has written
  kBellBeforePublished,
};

struct ModelWriter {
  std::uint8_t at = 0;
  std::uint8_t reader = 0;  // which one is looked at
  std::uint8_t slowest = 0;
  std::uint8_t asleep_on = 0;  // 1 + reader; 0: awake
  std::uint8_t wake = 0;
  std::uint8_t sequence = 0;
  std::uint8_t least = 0;
  std::uint32_t bell = 0;
};

struct ModelReader {
  std::uint8_t at = 0;
  std::uint8_t next = 0;
  std::uint8_t seen = 0;
  std::uint8_t ended = 0;
  std::uint8_t asleep = 0;
  std::uint8_t wake = 0;
  std::uint8_t unused[2]{};
  std::uint32_t bell = 0;
};

struct ModelState {
  shm::WriterPage page{};
  std::array<shm::CursorPage, kModelReadersMax> cursors{};
  std::array<std::uint8_t, kModelCapacityMax> slots{};
  ModelWriter writer;
  std::array<ModelReader, kModelReadersMax> readers{};
};

struct Model {
  int capacity = 1;
  int reader_count = 1;
  int batches = 3;
  Fault fault = Fault::kNone;

  ModelState start() const;
  // Actor 0 is the writer. One move; what is wrong, if it shows something wrong, else "".
  std::string move(ModelState& state, int actor) const;
  bool can_move(const ModelState& state, int actor) const;
  bool finished(const ModelState& state, int actor) const;
  // Equal for states that behave alike.
  std::string key(const ModelState& state) const;

 private:
  std::string move_writer(ModelState& state) const;
  void move_writer_publish(ModelState& state) const;
  void move_writer_sleep(ModelState& state) const;
  std::string move_reader(ModelState& state, int index) const;
  void move_reader_wait(ModelState& state, int index) const;
  void move_reader_release(ModelState& state, int index) const;
};

struct SearchResult {
  std::string wrong;  // "" if nothing is
  std::size_t states = 0;
};

// All states that can be reached. Ends at the first wrong one.
SearchResult search(const Model& model);

}  // namespace echoline::ring
