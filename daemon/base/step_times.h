// Where the time of one row goes: the steps that a thread enters while it makes the row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace echoline {

// One thread. Off for most rows: then enter_step costs one comparison.
class StepTimes {
 public:
  struct Entry {
    const std::string* step = nullptr;  // lives as long as the stream
    std::uint64_t ns = 0;               // wall time
  };
  // One stay in a step.
  struct Stay {
    const std::string* step = nullptr;
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
  };
  static constexpr std::size_t kStaysMax = 256;  // of a row; later ones are not kept

  // From now on until end(), the calling thread's steps are timed here. Time before the first one
  // goes to `other`. `keeps_stays`: each stay in a step is kept, too, but not those in `other`.
  void begin(const std::string& other, bool keeps_stays = false);
  // Ends the last step.
  void end();
  void enter(const std::string& step);

  // Of the last row, in the order in which they were entered first; each step once.
  const std::vector<Entry>& entries() const { return entries_; }
  // In their order; empty unless they are kept.
  const std::vector<Stay>& stays() const { return stays_; }
  std::uint64_t begin_ns() const { return begin_ns_; }
  std::uint64_t wall_ns() const { return wall_ns_; }
  std::uint64_t cpu_ns() const { return cpu_ns_; }  // of the thread

  // What the calling thread times now; null: nothing.
  static StepTimes*& of_thread();

 private:
  void charge(std::uint64_t now_ns);

  std::vector<Entry> entries_;
  std::vector<Stay> stays_;
  bool keeps_stays_ = false;
  std::size_t present_ = 0;  // of the entries
  std::uint64_t begin_ns_ = 0, since_ns_ = 0, wall_ns_ = 0, cpu_ns_ = 0;
};

// The thread goes on with this step of the row; `step` outlives the stream's rows.
inline void enter_step(const std::string& step) {
  if (StepTimes* times = StepTimes::of_thread(); times != nullptr) times->enter(step);
}

}  // namespace echoline
