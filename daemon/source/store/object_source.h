// A source over an object store: reads, listings, and how many of them run at once.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "source/core/source.h"
#include "source/http/http_operations.h"
#include "source/store/body_checksum.h"
#include "source/store/object_store.h"

namespace echoline::source {

struct ObjectSourceOptions {
  std::size_t concurrency = 128;
  std::uint64_t timeout_ns = 60'000'000'000;  // of one request, without progress
  std::uint64_t stall_ns = 15'000'000'000;    // of one attempt, without a byte
  ChecksumPolicy::Level checksums = ChecksumPolicy::Level::kAll;
  bool etag_is_md5 = false;          // as S3 does
  bool hedged = true;                // late reads are sent a second time
  std::uint32_t answers_needed = 1;  // as Source has it
  std::string ca_file;
};

// Threads as Source says. Listings and writes use connections of their own, so that one between two
// polls does not disturb the reads.
class ObjectSource : public Source {
 public:
  ObjectSource(std::unique_ptr<ObjectStore> store, ObjectSourceOptions options);

  // Checks each address's bucket with few attempts: an unreachable server, a missing bucket and
  // wrong credentials fail here.
  Status probe(const std::vector<std::string>& urls);

  Result<std::vector<ObjectInfo>> list(const std::string& url) override;
  Result<std::vector<ObjectInfo>> list_all(const std::vector<std::string>& urls) override;
  Status put(const std::string& url, const std::string& bytes) override;
  void submit(ReadRequest request) override;
  std::size_t slots_free() const override;
  void poll(std::uint64_t deadline_ns, std::vector<ReadResult>& done) override;
  std::uint32_t answers_needed() const override { return options_.answers_needed; }
  void count_damaged() override { SharedCounters::add(counters_.damaged, 1); }
  void wake() override;
  Counters counters() const override { return counters_.snapshot(); }
  std::vector<EndpointRates> rates() const override { return reads_.rates(); }

 private:
  // A read request and its parts: long requests are read in several ranges at once.
  struct Read {
    std::uint64_t tag = 0;
    std::vector<std::uint64_t> parts;  // in flight, by operation id
  };
  using Reads = std::unordered_map<std::uint64_t, Read>;

  OperationLimits limits() const;
  HttpOperations& queries();
  // Takes the end of one part; the last one ends its read.
  void finish_part(OperationResult result, std::vector<ReadResult>& done);

  const std::unique_ptr<ObjectStore> store_;
  const ObjectSourceOptions options_;
  ChecksumPolicy checksums_;
  SharedCounters counters_;
  std::atomic<bool> woken_{false};
  HttpOperations reads_;
  std::unique_ptr<HttpOperations> queries_;  // listings and writes; created when needed
  std::size_t slots_;                        // the limit after the last poll
  std::uint64_t next_id_ = 0;
  std::uint64_t next_read_ = 0;
  Reads reads_by_number_;
  std::unordered_map<std::uint64_t, std::uint64_t> reads_by_part_;  // read numbers, by operation id
  std::vector<ReadResult> refused_;  // submitted, but need no request: bad address or no bytes
  std::vector<OperationResult> ended_;
};

}  // namespace echoline::source
