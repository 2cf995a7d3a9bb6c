// Reads objects of a stored listing and drops the listing when it turns out to be outdated.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "source/core/forwarding_source.h"

namespace echoline::record {

// Where the listing of a data set is stored; empty if it is not.
struct StoredListing {
  std::string file;       // path in the state folder
  std::string published;  // address of the listing next to the data
};

// Threads as Source says. When an object has changed or is gone, the listing in the state folder is
// removed, so that the next start lists again. For a published listing the error says how to
// publish it again.
class ListedSource final : public source::ForwardingSource {
 public:
  ListedSource(std::unique_ptr<source::Source> inner, StoredListing listing);

  void poll(std::uint64_t deadline_ns, std::vector<source::ReadResult>& done) override;

 private:
  const StoredListing listing_;
};

}  // namespace echoline::record
