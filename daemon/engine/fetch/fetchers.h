// The fetchers of a stream: one for each source, so each store has its own pauses and limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/fetch/fetcher.h"
#include "record/core/data_set.h"

namespace echoline::engine {

// Any thread may call it, except stop: no fetcher's own thread.
class Fetchers {
 public:
  // One for each part of the data set, which must outlive this.
  Fetchers(std::vector<std::unique_ptr<Fetcher>> fetchers, const record::DataSet& data_set);

  void request(std::vector<FetchRequest> requests);
  void stop();

  // Sums over the sources; times are those of the busiest one.
  FetchCounters counters() const;
  // Sums over the sources.
  source::Counters source_counters() const;
  // Of the sources' endpoints, each of them once.
  std::vector<source::EndpointRates> store_rates() const;
  // Bytes/s of long answers from the slowest endpoint, also in earlier runs. 0: not known of one of
  // them, or samples come from preparation servers.
  double usual_rate() const;
  ReadsInFlight::View reads(std::size_t oldest_max, std::uint64_t now_ns) const;
  // Of preparation servers; nothing where all is prepared here.
  std::optional<RemoteStats> remote_stats() const;

 private:
  const std::vector<std::unique_ptr<Fetcher>> fetchers_;
  const record::DataSet& data_set_;
};

}  // namespace echoline::engine
