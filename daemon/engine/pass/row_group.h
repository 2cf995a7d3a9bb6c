// Rows of a chunk that go through steps together which take several samples at a time: the user's
// code.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "echo/item.h"
#include "engine/open/stream_core.h"
#include "engine/pass/in_flight_row.h"

namespace echoline::engine {

// The first part of these rows, up to those steps. A row for which it fails is left out: it is made
// alone, and only then it is decided whether its record is bad. One worker.
class RowGroup {
 public:
  struct Member {
    std::uint32_t index = 0;  // in the batch's rows
    batch::WorkerScratch* scratch = nullptr;
    std::uint32_t attempt = 0;           // of the item, when its bytes were read
    std::unique_ptr<echo::Claim> claim;  // of a row of encoded bytes
  };

  // Whether steps of the stream take several samples; `of_kept` as below.
  static bool is_possible(const StreamCore& core, bool of_kept);
  // `own` is the scratch of the worker. `of_kept`: rows of kept forms, else of encoded bytes.
  RowGroup(const StreamCore& core, const std::vector<InFlightRow>& rows, batch::WorkerScratch& own,
           bool of_kept)
      : core_(core), planned_(rows), own_(own), of_kept_(of_kept) {}

  // Adds the rows of [begin, end) that are not made yet, while there is memory for them. Returns
  // where the next group begins. Waits for no other worker's rows.
  std::uint32_t add(std::uint32_t begin, std::uint32_t end);
  // Runs the steps; afterwards only the rows are left for which that went well.
  void run(const std::atomic<bool>* stopping);
  std::vector<Member>& members() { return members_; }

 private:
  // The scratch of the next member.
  batch::WorkerScratch& next_scratch();
  void add_row(std::uint32_t index);

  const StreamCore& core_;
  const std::vector<InFlightRow>& planned_;  // of the batch
  batch::WorkerScratch& own_;
  const bool of_kept_;
  std::uint64_t bytes_ = 0;  // of the members' samples
  std::vector<Member> members_;
  std::vector<augment::RowTogether> rows_;  // of the members
};

}  // namespace echoline::engine
