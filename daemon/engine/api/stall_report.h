// What delays the trainers of a stream now, in detail: who waits, what each stage does, what
// storage was asked for, and who holds slots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace echoline::engine {

// The longest lists of a report.
inline constexpr std::size_t kStallWaitsMax = 4;
inline constexpr std::size_t kStallReadsMax = 5;
inline constexpr std::size_t kStallHoldersMax = 8;

struct StallReport {
  // A trainer that waits for its next batch.
  struct Wait {
    std::string job;
    std::uint32_t rank = 0;
    std::int64_t pid = 0;  // 0: its container hides it
    std::string limit;     // as Verdict::limit
    std::uint64_t waited_ns = 0;
  };
  // Who has not released published slots.
  struct Holder {
    std::string job;  // a trainer's, or the one that has not come yet (`awaited`)
    std::uint32_t rank = 0;
    std::int64_t pid = 0;
    bool awaited = false;  // nobody: the slots are kept for a rank or job that is to come
    std::uint64_t slots = 0;
    std::uint64_t still_ns = 0;  // since it has released one, or since it attached
  };
  // A ranged read that the store has not answered.
  struct Read {
    std::string address;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t records = 0;
    std::uint64_t age_ns = 0;
  };

  std::vector<Wait> waits;      // longest first
  std::uint64_t waiting = 0;    // trainers, in all
  std::vector<Read> reads;      // oldest first
  std::uint64_t in_flight = 0;  // reads, in all
  std::uint64_t records_awaited = 0;
  std::string store_pause;  // the error after which the store pauses; empty: it does not
  std::uint64_t workers = 0, workers_busy = 0;
  std::uint64_t chunks_queued = 0;  // of all streams
  std::uint64_t slots_free = 0, slots_filling = 0, slots_published = 0;
  std::vector<Holder> holders;       // most slots first, then the longest
  std::uint64_t all_holders = 0;     // in all
  std::vector<std::string> lines{};  // all of it as text
};

}  // namespace echoline::engine
