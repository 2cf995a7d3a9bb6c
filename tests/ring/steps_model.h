// A model of one writer and its readers. It uses the real cursor steps on real pages. Each atomic
// access is one move, and a flag without a timeout replaces the kernel's futex. The search tries
// all orders of moves: a lost wake-up is a state in which no actor can move.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "echoline/shm/cursor_steps.h"

namespace echoline::ring {

inline constexpr int kModelReadersMax = 2;
inline constexpr int kModelCapacityMax = 4;

// A step that is left out or moved, to check that the search finds the error.
enum class Fault {
  kNone,
  kReaderBellAfterWake,  // a release wakes the writer before it changes the bell
  kWriterBellAfterLook,  // the writer reads the bell after its last check
  kWriterNoFlag,         // the writer does not set its waiting flag
  kReaderNoLastLook,     // a reader sleeps without a check after it set its waiting flag
  kWriterNoReaderCheck,  // the writer checks the cursor of only one reader
  kPublishedBeforeSlot,  // the writer publishes before it writes
  kBellBeforePublished,
};

struct ModelWriter {
  std::uint8_t at = 0;
  std::uint8_t reader = 0;  // the reader that it checks
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
  // Makes one move of an actor; actor 0 is the writer. Returns an error if the move shows one, else
  // "".
  std::string move(ModelState& state, int actor) const;
  bool can_move(const ModelState& state, int actor) const;
  bool finished(const ModelState& state, int actor) const;
  // Equal for equivalent states.
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
  std::string wrong;  // "" if nothing is wrong
  std::size_t states = 0;
};

// Searches all reachable states. Ends at the first error.
SearchResult search(const Model& model);

}  // namespace echoline::ring
