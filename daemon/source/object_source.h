// A source over an object store: reads, listings, and their concurrency.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "source/exchanges.h"
#include "source/object_store.h"
#include "source/source.h"

namespace echoline::source {

struct ObjectSourceOptions {
  std::size_t concurrency = 32;
  std::uint64_t timeout_ns = 60'000'000'000;
  std::string ca_file;
};

// Threads as Source says. Listings have connections of their own, so a list between polls disturbs
// no read.
class ObjectSource : public Source {
 public:
  ObjectSource(std::unique_ptr<ObjectStore> store, ObjectSourceOptions options);

  // Asks the store for each address's bucket, briefly: unreachable, missing and refused are found
  // here.
  Status probe(const std::vector<std::string>& urls);

  Result<std::vector<ObjectInfo>> list(const std::string& url) override;
  Result<std::vector<ObjectInfo>> list_all(const std::vector<std::string>& urls) override;
  void submit(ReadRequest request) override;
  std::size_t slots_free() const override;
  void poll(std::uint64_t deadline_ns, std::vector<ReadResult>& done) override;
  void wake() override;
  Counters counters() const override { return counters_.snapshot(); }

 private:
  Result<std::vector<ObjectInfo>> stat_many(const std::vector<Address>& addresses);
  Result<std::vector<ObjectInfo>> list_pattern(const Address& address);
  Result<ListPage> list_page(const ListQuery& query);

  const std::unique_ptr<ObjectStore> store_;
  const ObjectSourceOptions options_;
  SharedCounters counters_;
  std::atomic<bool> woken_{false};
  Exchanges reads_;
  std::unique_ptr<Exchanges> asks_;  // for listings; made when first needed
  std::uint64_t next_id_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> tags_;  // of the callers, by our ids
  std::vector<ReadResult> refused_;                        // submitted, but not worth a request
  std::vector<ExchangeResult> ended_;
};

}  // namespace echoline::source
