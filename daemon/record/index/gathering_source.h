// A source that reads records that consist of several parts of their object.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "record/index/gathered_parts.h"
#include "source/core/forwarding_source.h"

namespace echoline::record {

// Threads as Source says. Reads of gathered extents, each as a whole, become one read per part;
// other reads are passed on.
class GatheringSource final : public source::ForwardingSource {
 public:
  GatheringSource(std::unique_ptr<source::Source> inner,
                  std::shared_ptr<const GatheredParts> parts);

  void submit(source::ReadRequest request) override;
  std::size_t slots_free() const override;
  void poll(std::uint64_t deadline_ns, std::vector<source::ReadResult>& done) override;
  void wake() override;

 private:
  // A caller's request, until all of its reads have ended.
  struct Caller {
    source::ReadResult result;
    std::size_t reads_left = 0;
  };
  void submit_waiting();
  void take_landed(std::vector<source::ReadResult>& done);

  const std::shared_ptr<const GatheredParts> parts_;
  std::deque<source::ReadRequest> waiting_;  // for a slot of the inner source
  std::unordered_map<std::uint64_t, std::shared_ptr<Caller>>
      reads_;  // by the tag of the inner read
  std::uint64_t next_tag_ = 0;
  std::vector<source::ReadResult> inner_done_;
  std::atomic<bool> woken_{false};
};

}  // namespace echoline::record
