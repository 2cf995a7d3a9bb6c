// What a trace records: spans of time, each on a track. Spans of one track never overlap, except
// that one may be inside another.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace echoline::trace {

// Groups of tracks, in the order in which a viewer shows them.
enum class Group : std::uint8_t { kTrainers, kSlots, kPasses, kWorkers, kFetch, kCaches, kReads };
inline constexpr std::array<const char*, 7> kGroupNames = {
    "trainers", "slots", "pass threads", "workers", "fetch thread", "cache threads", "reads"};

enum class Kind : std::uint8_t {
  kWait,          // of a thread
  kTrainerWait,   // for its next batch
  kBatch,         // from its slot to its publication; the next three are parts of it
  kBatchBytes,    // until the bytes of all of its records are there
  kBatchRows,     // until its rows are made
  kBatchTurn,     // until the batches before it are published
  kPublish,       // on the pass's thread
  kRow,           // on a worker
  kStep,          // a part of a row
  kMemoryLookUp,  // on the fetch thread, as the next one
  kSampleLookUp,  // decoded samples
  kDiskLookUp,    // on a cache thread, as the next one
  kFleetLookUp,   // many records in one round trip
  kRead,          // of a range of a shard; such spans overlap (lanes.h)
};

inline constexpr std::size_t kValuesMax = 8;
// A value that a span does not have.
inline constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

// What spans of a kind are called, and the names of their values.
struct Form {
  const char* name;
  std::array<const char*, kValuesMax> values;  // null: no more
};
const Form& form_of(Kind kind);

// Small, because many are recorded. Texts are not owned: `step` lives as long as the stream, the
// others are constants.
struct Span {
  Kind kind = Kind::kWait;
  Group group = Group::kTrainers;
  std::uint32_t track = 0;  // within the group
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  const std::string* step = nullptr;  // of kStep: its name
  const char* cause = nullptr;        // of waits
  const char* place = nullptr;        // of a trainer's wait for bytes: where they are
  std::array<std::uint64_t, kValuesMax> values{};
};

// The track of one of the batches of a pass that are under construction at a time.
inline std::uint32_t slot_track(std::uint32_t pass, std::uint64_t lane) {
  return pass << 16 | static_cast<std::uint32_t>(lane & 0xffff);
}

}  // namespace echoline::trace
