// Joins requested records that are neighbours in their shard into one ranged read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "echo/item.h"
#include "engine/runtime/byte_share.h"
#include "record/core/index.h"
#include "record/core/record_check.h"
#include "source/core/source.h"

namespace echoline::engine {

// A record whose bytes an item waits for.
struct FetchRequest {
  std::shared_ptr<echo::Item> item;
  std::uint64_t record = 0;
  record::Extent extent;
  record::RecordAnswers answers{};  // that were not accepted
  // Of the cache's side:
  bool counted = false;          // as a miss
  bool past_cache = false;       // read it from the store: no other host does, or not in time
  std::uint64_t waits = 0;       // how often it waited for another host that fetches it
  std::uint64_t give_up_ns = 0;  // when that waiting ends; 0: it has not begun
  ByteShare fill{};              // share of the bytes to be written to the fleet
};

// Nobody else holds the item: its pass has ended or skipped it.
inline bool is_unwanted(const FetchRequest& request) { return request.item.use_count() == 1; }

// Requested records that are in no ranged read yet, first come first. Not thread safe.
class RequestCoalescer {
 public:
  // Bytes of one ranged read. The lower bound is worth a round trip. Reads grow while enough bytes
  // of an epoch are requested to keep as many reads of that length in flight as the store takes; of
  // those, kAtOnce are enough. So the last reads of an epoch are short.
  static constexpr std::uint64_t kRequestBytes = 1 << 20;
  static constexpr std::uint64_t kRequestBytesMax = source::kSplitReadBytes - (1 << 20);
  // A read of a store that answers at once, where kNearReads or more are in flight; fewer are
  // longer. A request costs the store CPU time, however short it is.
  static constexpr std::uint64_t kNearReadBytes = 3 << 20;
  static constexpr std::uint64_t kNearReads = 16;
  // Bytes of the reads in flight, in units of what arrives until an answer begins: then three
  // quarters of a read's time bring bytes.
  static constexpr double kLatencies = 4;
  static constexpr std::size_t kAtOnce = 32;
  static constexpr std::uint64_t kGapBytes = 16 << 10;
  static constexpr std::int64_t kReachMin = 4096;
  static constexpr std::uint64_t kThriftyShare = 64;  // at most 1/64 of a read may be gaps

  // A record joins an older one's read only if it was requested at most `reach` requests (or
  // kReachMin) later, for the same epoch: what is wanted later must not delay what is wanted now.
  // `thrifty`: the records in the gaps are cached, so little of the gaps may be read again.
  explicit RequestCoalescer(std::uint64_t reach, bool thrifty = false)
      : reach_(static_cast<std::int64_t>(
            std::clamp<std::uint64_t>(reach, kReachMin, std::uint64_t{1} << 62))),
        thrifty_(thrifty) {}

  void add(FetchRequest request) { insert(next_number_++, std::move(request)); }
  // A record whose read failed: before all others.
  void put_back(FetchRequest request) { insert(--first_number_, std::move(request)); }
  bool empty() const { return queue_.empty(); }
  // The one that take() begins with.
  const FetchRequest& oldest() const { return queue_.begin()->second->second.request; }
  std::size_t size() const { return queue_.size(); }

  // How many reads may be in flight, and how long each may be.
  struct Reads {
    std::size_t at_once = kAtOnce;
    std::uint64_t bytes = kRequestBytesMax;

    // `at_once` reads, each long enough to be worth the wait until its answer begins. In that time,
    // `latency_bytes` arrive in all reads together; 0: the store answers at once.
    static Reads worth(std::size_t at_once, double latency_bytes);
  };
  // The oldest record and its neighbours on both sides, as long as the gaps are small and the read
  // does not grow too long; ascending, without overlap.
  std::vector<FetchRequest> take(const Reads& reads);
  // Cuts such a run, from which some records were removed, where its gaps have become too large.
  std::vector<std::vector<FetchRequest>> cut(std::vector<FetchRequest> run) const;

 private:
  // Where a record begins.
  struct Location {
    std::uint32_t shard;
    std::uint64_t offset;
    auto operator<=>(const Location&) const = default;
  };
  struct Entry {
    std::int64_t number;
    FetchRequest request;
  };
  using Map = std::multimap<Location, Entry>;

  // Adds the request to both orders: by place in the shard, and by number.
  void insert(std::int64_t number, FetchRequest request);
  // The length that a read may have now: the waiting bytes of its epoch, spread over the reads.
  std::uint64_t request_bytes(std::uint32_t epoch, const Reads& reads) const {
    const auto found = bytes_.find(epoch);
    const std::uint64_t waiting = found == bytes_.end() ? 0 : found->second;
    const std::uint64_t each = waiting / std::clamp<std::size_t>(reads.at_once, 1, kAtOnce);
    return std::clamp(std::min(each, reads.bytes), kRequestBytes, kRequestBytesMax);
  }
  // Subtracts a record that is taken.
  void count_taken(const FetchRequest& request);
  static std::uint64_t end(const Entry& entry) {
    return entry.request.extent.offset + entry.request.extent.bytes;
  }

  // A ranged read while it grows.
  struct Span {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint64_t bytes_max;
    std::uint64_t gaps = 0;
  };
  bool joins(const Span& span, const record::Extent& next, Span& joined) const;

  const std::int64_t reach_;
  const bool thrifty_;
  Map by_location_;
  std::map<std::int64_t, Map::iterator> queue_;   // by arrival
  std::map<std::uint32_t, std::uint64_t> bytes_;  // of the records here, by epoch; no entry is 0
  std::int64_t first_number_ = 0;
  std::int64_t next_number_ = 0;
};

}  // namespace echoline::engine
