#include "engine/fetch/fetchers.h"

#include <algorithm>
#include <utility>

namespace echoline::engine {
namespace {

// Each source has a client of the same servers, which reaches as many of them as the others, or
// soon will.
void add_remote(RemoteStats& sum, const RemoteStats& other) {
  sum.answered += other.answered;
  sum.failed += other.failed;
  sum.refused += other.refused;
  sum.busy += other.busy;
  sum.damaged += other.damaged;
  sum.second += other.second;
  sum.bytes += other.bytes;
  sum.local_records += other.local_records;
  sum.servers = std::max(sum.servers, other.servers);
  sum.reachable = std::min(sum.reachable, other.reachable);
  sum.in_flight += other.in_flight;
}

}  // namespace

Fetchers::Fetchers(std::vector<std::unique_ptr<Fetcher>> fetchers, const record::DataSet& data_set)
    : fetchers_(std::move(fetchers)), data_set_(data_set) {}

void Fetchers::request(std::vector<FetchRequest> requests) {
  if (fetchers_.size() == 1) {
    fetchers_.front()->request(std::move(requests));
    return;
  }
  std::vector<std::vector<FetchRequest>> parts(fetchers_.size());
  for (FetchRequest& request : requests) {
    parts[data_set_.part_of(request.record)].push_back(std::move(request));
  }
  for (std::size_t part = 0; part < parts.size(); ++part) {
    if (!parts[part].empty()) fetchers_[part]->request(std::move(parts[part]));
  }
}

void Fetchers::stop() {
  for (const auto& fetcher : fetchers_) fetcher->stop();
}

FetchCounters Fetchers::counters() const {
  FetchCounters sum = fetchers_.front()->counters();
  const std::uint64_t passed_ns = sum.busy_ns + sum.idle_ns;
  std::uint64_t busy_ns = sum.busy_ns;
  std::uint64_t store_ns = sum.store_ns;
  std::uint64_t most_waiting = sum.waiting;
  for (std::size_t part = 1; part < fetchers_.size(); ++part) {
    const FetchCounters counters = fetchers_[part]->counters();
    sum += counters;
    busy_ns = std::max(busy_ns, counters.busy_ns);
    store_ns = std::max(store_ns, counters.store_ns);
    // Trainers wait most likely for the source of which most records are awaited.
    if (counters.waiting <= most_waiting) continue;
    most_waiting = counters.waiting;
    sum.present = counters.present;
  }
  // The threads work at the same time: a sum of their times would be more than has passed.
  sum.busy_ns = busy_ns;
  sum.idle_ns = passed_ns - std::min(passed_ns, busy_ns);
  sum.store_ns = store_ns;
  return sum;
}

source::Counters Fetchers::source_counters() const {
  source::Counters sum = fetchers_.front()->source_counters();
  for (std::size_t part = 1; part < fetchers_.size(); ++part) {
    sum += fetchers_[part]->source_counters();
  }
  return sum;
}

double Fetchers::usual_rate() const {
  if (remote_stats().has_value()) return 0;
  const std::vector<source::EndpointRates> stores = store_rates();
  const auto slowest = std::ranges::min_element(stores, {}, &source::EndpointRates::usual_rate);
  return slowest == stores.end() ? 0 : slowest->usual_rate;
}

std::vector<source::EndpointRates> Fetchers::store_rates() const {
  std::vector<source::EndpointRates> all;
  for (const auto& fetcher : fetchers_) {
    for (source::EndpointRates& rates : fetcher->store_rates()) {
      const bool is_known = std::any_of(all.begin(), all.end(), [&](const auto& other) {
        return other.endpoint == rates.endpoint &&
               (rates.points.empty() || other.short_answers == rates.short_answers);
      });
      if (!is_known) all.push_back(std::move(rates));
    }
  }
  return all;
}

std::optional<RemoteStats> Fetchers::remote_stats() const {
  if (fetchers_.front()->remote() == nullptr) return std::nullopt;
  RemoteStats sum = fetchers_.front()->remote()->stats();
  for (std::size_t part = 1; part < fetchers_.size(); ++part) {
    add_remote(sum, fetchers_[part]->remote()->stats());
  }
  return sum;
}

ReadsInFlight::View Fetchers::reads(std::size_t oldest_max, std::uint64_t now_ns) const {
  ReadsInFlight::View all;
  for (const auto& fetcher : fetchers_) {
    ReadsInFlight::View view = fetcher->reads().view(oldest_max, now_ns);
    all.oldest.insert(all.oldest.end(), view.oldest.begin(), view.oldest.end());
    all.count += view.count;
    if (all.pause_error.empty()) all.pause_error = std::move(view.pause_error);
  }
  std::ranges::stable_sort(all.oldest, {}, &ReadInFlight::begin_ns);
  if (all.oldest.size() > oldest_max) all.oldest.resize(oldest_max);
  return all;
}

}  // namespace echoline::engine
