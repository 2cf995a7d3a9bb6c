// A source that reads records that consist of several parts of their object.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "record/index/gathered_records.h"
#include "source/core/source.h"

namespace echoline::record {

// Threads as Source says. Reads of gathered extents, each as a whole, become one read per part;
// other reads are passed on.
class GatheringSource final : public source::Source {
 public:
  GatheringSource(std::unique_ptr<source::Source> inner,
                  std::shared_ptr<const GatheredRecords> records);

  Result<std::vector<source::ObjectInfo>> list(const std::string& url) override;
  Result<std::vector<source::ObjectInfo>> list_all(const std::vector<std::string>& urls) override;
  Status put(const std::string& url, const std::string& bytes) override;
  void submit(source::ReadRequest request) override;
  std::size_t slots_free() const override;
  void poll(std::uint64_t deadline_ns, std::vector<source::ReadResult>& done) override;
  std::uint32_t answers_needed() const override { return inner_->answers_needed(); }
  void forget(const source::ObjectInfo& object) override { inner_->forget(object); }
  void count_damaged() override { inner_->count_damaged(); }
  void wake() override;
  source::Counters counters() const override { return inner_->counters(); }

 private:
  // A caller's request, until all of its reads have ended.
  struct Caller {
    source::ReadResult result;
    std::size_t reads_left = 0;
  };
  void submit_waiting();
  void take_landed(std::vector<source::ReadResult>& done);

  const std::unique_ptr<source::Source> inner_;
  const std::shared_ptr<const GatheredRecords> records_;
  std::deque<source::ReadRequest> waiting_;  // for a slot of the inner source
  std::unordered_map<std::uint64_t, std::shared_ptr<Caller>>
      reads_;  // by the tag of the inner read
  std::uint64_t next_tag_ = 0;
  std::vector<source::ReadResult> inner_done_;
  std::atomic<bool> woken_{false};
};

}  // namespace echoline::record
