// Reads objects of a stored listing and drops the listing when it turns out to be outdated.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "source/core/source.h"

namespace echoline::record {

// Where the listing of a data set is stored; empty if it is not.
struct StoredListing {
  std::string file;       // path in the state folder
  std::string published;  // address of the listing next to the data
};

// Threads as Source says. When an object has changed or is gone, the listing in the state folder is
// removed, so that the next start lists again. For a published listing the error says how to
// publish it again.
class ListedSource final : public source::Source {
 public:
  ListedSource(std::unique_ptr<source::Source> inner, StoredListing listing);

  Result<std::vector<source::ObjectInfo>> list(const std::string& url) override;
  Result<std::vector<source::ObjectInfo>> list_all(const std::vector<std::string>& urls) override;
  Status put(const std::string& url, const std::string& bytes) override;
  void submit(source::ReadRequest request) override { inner_->submit(std::move(request)); }
  std::size_t slots_free() const override { return inner_->slots_free(); }
  void poll(std::uint64_t deadline_ns, std::vector<source::ReadResult>& done) override;
  std::uint32_t answers_needed() const override { return inner_->answers_needed(); }
  void forget(const source::ObjectInfo& object) override { inner_->forget(object); }
  void count_damaged() override { inner_->count_damaged(); }
  void wake() override { inner_->wake(); }
  source::Counters counters() const override { return inner_->counters(); }

 private:
  const std::unique_ptr<source::Source> inner_;
  const StoredListing listing_;
};

}  // namespace echoline::record
