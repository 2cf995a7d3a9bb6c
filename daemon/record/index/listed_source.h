// Reading what an earlier listing names: an object that is another one by now ends that listing.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "source/core/source.h"

namespace echoline::record {

// Where the listing of a data set's files is kept; empty where it is not.
struct StoredListing {
  std::string file;       // in the state folder, for the next start
  std::string published;  // the address of the index that lies beside the data
};

// Threads as Source says. When a read finds an object changed or gone, the file is removed, so that
// the next start lists anew; of a published listing the message says how to make it anew.
class ListedSource final : public source::Source {
 public:
  ListedSource(std::unique_ptr<source::Source> inner, StoredListing listing);

  Result<std::vector<source::ObjectInfo>> list(const std::string& url) override;
  Result<std::vector<source::ObjectInfo>> list_all(const std::vector<std::string>& urls) override;
  Status put(const std::string& url, const std::string& bytes) override;
  void submit(source::ReadRequest request) override { inner_->submit(std::move(request)); }
  std::size_t slots_free() const override { return inner_->slots_free(); }
  void poll(std::uint64_t deadline_ns, std::vector<source::ReadResult>& done) override;
  void wake() override { inner_->wake(); }
  source::Counters counters() const override { return inner_->counters(); }

 private:
  const std::unique_ptr<source::Source> inner_;
  const StoredListing listing_;
};

}  // namespace echoline::record
