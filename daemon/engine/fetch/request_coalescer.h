// Which of the records that are wanted go into one request: neighbours in their shard.
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
#include "source/core/source.h"

namespace echoline::engine {

// A record whose bytes are wanted, for an item that waits for them.
struct FetchRequest {
  std::shared_ptr<echo::Item> item;
  std::uint64_t record = 0;
  record::Extent extent;
  std::uint32_t disagreements = 0;  // answers that were not what the index says
  // Of the cache's business:
  bool counted = false;          // as a miss
  bool past_cache = false;       // to be read from the store: nobody else does, or none in time
  std::uint64_t waits = 0;       // for another host that fetches it
  std::uint64_t give_up_ns = 0;  // when waiting ends; 0: has not begun
  ByteShare fill{};              // of what is on its way to the fleet
};

// Orders that no request carries yet, first come first. Not thread safe.
class RequestCoalescer {
 public:
  // A request is long enough to be worth its round trip, and longer, up to the second bound, where
  // so much is wanted that as many requests of that length as may go on side by side are left; of
  // those, kAtOnce are enough.
  static constexpr std::uint64_t kRequestBytes = 1 << 20;
  static constexpr std::uint64_t kRequestBytesMax = source::kSplitReadBytes - (1 << 20);
  static constexpr std::size_t kAtOnce = 32;
  static constexpr std::uint64_t kGapBytes = 16 << 10;
  static constexpr std::int64_t kReachMin = 4096;
  static constexpr std::uint64_t kThriftyShare = 64;  // one byte in so many may be of a gap

  // An order joins an older one's request only if it came at most `reach` orders (or kReachMin)
  // later: what is wanted much later, as in the next epoch, must not delay what is wanted now.
  // `thrifty`: what stands in the gaps is in a cache, so that little of it may be read again.
  explicit RequestCoalescer(std::uint64_t reach, bool thrifty = false)
      : reach_(static_cast<std::int64_t>(
            std::clamp<std::uint64_t>(reach, kReachMin, std::uint64_t{1} << 62))),
        thrifty_(thrifty) {}

  void add(FetchRequest order) { insert(next_number_++, std::move(order)); }
  // An order whose request failed: before all others.
  void put_back(FetchRequest order) { insert(--first_number_, std::move(order)); }
  bool empty() const { return queue_.empty(); }
  std::size_t size() const { return queue_.size(); }

  // The oldest order and its neighbours on both sides, as long as the gaps between them are small
  // and the request does not grow too long where `at_once` of them may be under way; ascending,
  // without overlap.
  std::vector<FetchRequest> take(std::size_t at_once);
  // Cuts such a run, of which some orders were taken out, where its gaps have become too large.
  std::vector<std::vector<FetchRequest>> cut(std::vector<FetchRequest> run) const;

 private:
  struct Place {
    std::uint32_t shard;
    std::uint64_t offset;
    auto operator<=>(const Place&) const = default;
  };
  struct Entry {
    std::int64_t number;
    FetchRequest order;
  };
  using Map = std::multimap<Place, Entry>;

  void insert(std::int64_t number, FetchRequest order);
  std::uint64_t request_bytes(std::size_t at_once) const {
    return std::clamp(bytes_ / std::clamp<std::size_t>(at_once, 1, kAtOnce), kRequestBytes,
                      kRequestBytesMax);
  }
  static std::uint64_t end(const Entry& entry) {
    return entry.order.extent.offset + entry.order.extent.bytes;
  }

  // How a request grows.
  struct Span {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint64_t longest;  // that the request may become
    std::uint64_t gaps = 0;
  };
  bool joins(const Span& span, const record::Extent& next, Span& joined) const;

  const std::int64_t reach_;
  const bool thrifty_;
  Map places_;
  std::map<std::int64_t, Map::iterator> queue_;  // by number of arrival
  std::uint64_t bytes_ = 0;                      // of all orders
  std::int64_t first_number_ = 0;
  std::int64_t next_number_ = 0;
};

}  // namespace echoline::engine
