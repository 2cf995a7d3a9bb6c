// Numbers instead of stored bytes: for records that only users' code has.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "source/core/counters.h"
#include "source/core/source.h"

namespace echoline::source {

// Each object is the int64 numbers 0, 1, 2, ... in this host's byte order; segments have whole
// numbers. There is nothing to list, and nothing can be written. Threads as Source says.
class NumberSource final : public Source {
 public:
  static Result<std::unique_ptr<Source>> open(std::size_t concurrency);

  Result<std::vector<ObjectInfo>> list(const std::string& url) override;
  Status put(const std::string& url, const std::string& bytes) override;
  void submit(ReadRequest request) override;
  std::size_t slots_free() const override { return concurrency_ - submitted_.size(); }
  void poll(std::uint64_t deadline_ns, std::vector<ReadResult>& done) override;
  void wake() override;
  Counters counters() const override { return counters_.snapshot(); }

 private:
  NumberSource(std::size_t concurrency, UniqueFd event)
      : concurrency_(concurrency), event_(std::move(event)) {}

  const std::size_t concurrency_;
  const UniqueFd event_;  // readable after wake()
  SharedCounters counters_;
  std::deque<ReadRequest> submitted_;  // the next poll ends all of them
};

}  // namespace echoline::source
