#include "engine/fetch/remote_reader.h"

#include <iterator>
#include <utility>

namespace echoline::engine {
Result<std::unique_ptr<RemoteReader>> RemoteReader::open(RemoteReaderOptions options,
                                                         FetchMeter& meter,
                                                         std::function<void()> wake) {
  std::unique_ptr<RemoteReader> reader(new RemoteReader(meter, options.growth));
  ECHOLINE_ASSIGN(reader->client_,
                  PreparationClient::open(std::move(options.client), std::move(wake)));
  return reader;
}

void RemoteReader::add(FetchRun run) {
  FetchRun part;
  double bytes = 0;
  Place place;
  for (FetchRequest& request : run) {
    const Place next = place_of(request.extent.shard, request.extent.offset);
    const double frame_bytes = growth_ * static_cast<double>(request.extent.bytes);
    const bool fits = next == place && part.size() < kRequestRecords &&
                      bytes + frame_bytes <= static_cast<double>(kAnswerBytes);
    if (!part.empty() && !fits) {
      submit(std::exchange(part, {}), bytes);
      bytes = 0;
    }
    place = next;
    bytes += frame_bytes;
    part.push_back(std::move(request));
  }
  if (!part.empty()) submit(std::move(part), bytes);
}

void RemoteReader::submit(FetchRun run, double bytes) {
  const record::Extent& first = run.front().extent;
  RemoteRun asked{.tag = next_tag_++,
                  .place = place_of(first.shard, first.offset),
                  .records = {},
                  .bytes = static_cast<std::uint64_t>(bytes)};
  asked.records.reserve(run.size());
  for (const FetchRequest& request : run) asked.records.push_back(request.record);
  in_flight_.emplace(asked.tag, std::move(run));
  client_->submit(std::move(asked));
}

std::vector<FetchRun> RemoteReader::take_results(FetchRun& again) {
  std::vector<FetchRun> local;
  for (RemoteResult& result : client_->take_results()) {
    FetchRun run = std::move(in_flight_.extract(result.tag).mapped());
    if (!result.status.ok()) {
      meter_.drop_unwanted(run);
      local_.fetch_add(run.size(), std::memory_order_relaxed);
      if (!run.empty()) local.push_back(std::move(run));
      continue;
    }
    for (std::size_t i = 0; i < run.size(); ++i) {
      if (i < result.frames.size()) {
        meter_.deliver(run[i], std::move(result.frames[i]), echo::Form::kPrepared);
      } else {
        again.push_back(std::move(run[i]));
      }
    }
  }
  return local;
}

}  // namespace echoline::engine
