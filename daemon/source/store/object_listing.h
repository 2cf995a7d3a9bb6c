// Finds out which objects addresses mean: by listings, or by asking about each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "source/core/address.h"
#include "source/core/source.h"
#include "source/http/http_operations.h"
#include "source/store/object_store.h"

namespace echoline::source {

// Some stores send empty pages while they skip deleted objects.
inline constexpr std::size_t kEmptyPagesMax = 10'000;
// Addresses and versions of so many take about 2 GB.
inline constexpr std::size_t kObjectsMax = 20'000'000;

struct ListingOptions {
  std::size_t concurrency = 1;
  std::uint32_t answers_needed = 1;  // as Source has it
  // Of one pattern.
  std::size_t empty_pages_max = kEmptyPagesMax;  // in sequence
  std::size_t objects_max = kObjectsMax;
};

// One thread. Everything blocks, and nothing else may be in flight in `operations`, which must
// outlive it, as store and counters.
class ObjectListing {
 public:
  ObjectListing(ObjectStore& store, HttpOperations& operations, ListingOptions options,
                SharedCounters& counters)
      : store_(store), operations_(operations), options_(options), counters_(counters) {}

  // As Source::list_all.
  Result<std::vector<ObjectInfo>> list(const std::vector<std::string>& urls);

  // As ObjectSource::probe.
  Status probe(const std::vector<std::string>& urls);

 private:
  // Asks for the commit of an address in a store with branches, once for each.
  Status pin(const Address& address);
  // Asks whether there is such an object, or whether the bucket may be listed.
  Status probe_one(Address address);
  // Size and version of each address, many requests at a time.
  Result<std::vector<ObjectInfo>> stat_many(const std::vector<Address>& addresses);
  // The same by listings that name many objects of one bucket.
  Result<std::vector<ObjectInfo>> list_names(const std::vector<Address>& addresses);
  // The objects that match a pattern, page by page.
  Result<std::vector<ObjectInfo>> list_pattern(const Address& address);
  // One page, as often as its bytes need to be certain.
  Result<ListPage> list_page(const ListQuery& query);

  ObjectStore& store_;
  HttpOperations& operations_;
  const ListingOptions options_;
  SharedCounters& counters_;
};

}  // namespace echoline::source
