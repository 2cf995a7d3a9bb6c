#include "engine/fetch/store_reader.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "record/core/record_check.h"

namespace echoline::engine {
namespace {

constexpr std::uint64_t kPauseFirstNs = 100'000'000;
constexpr std::uint64_t kPauseMaxNs = 5'000'000'000;

bool is_transient(Code code) {
  return code == Code::kUnavailable || code == Code::kDeadlineExceeded ||
         code == Code::kResourceExhausted;
}

}  // namespace

StoreReader::~StoreReader() {
  source_.reset();  // before the buffers that its transfers write to
}

void StoreReader::submit_ready(std::uint64_t now_ns, std::vector<std::uint64_t>& dropped) {
  while (!is_paused(now_ns) && !ready_.empty() && source_->slots_free() > 0) {
    FetchRun run = std::move(ready_.front());
    ready_.pop_front();
    for (const FetchRequest& request : run) {
      if (is_unwanted(request)) dropped.push_back(request.record);
    }
    meter_.drop_unwanted(run);
    if (!run.empty()) submit(std::move(run));
  }
}

void StoreReader::submit(FetchRun run) {
  source::ReadRequest read;
  read.tag = next_tag_++;
  read.object = index_.shards()[run.front().extent.shard].object;
  Finished& flight = in_flight_[read.tag];
  flight.requests = std::move(run);
  flight.buffers.reserve(flight.requests.size());
  for (const FetchRequest& request : flight.requests) {
    const auto& buffer =
        flight.buffers.emplace_back(std::make_shared<Buffer>(request.extent.bytes));
    read.segments.push_back({request.extent.offset, buffer->span()});
  }
  source_->submit(std::move(read));
}

std::vector<source::ReadResult> StoreReader::poll(std::uint64_t deadline_ns) {
  std::vector<source::ReadResult> results;
  source_->poll(deadline_ns, results);
  return results;
}

StoreReader::Finished StoreReader::take(std::uint64_t tag) {
  return std::move(in_flight_.extract(tag).mapped());
}

bool StoreReader::begin_pause(const Status& status, std::uint64_t now_ns) {
  if (!wait_on_error_ || !is_transient(status.code())) return false;
  // Requests that were in flight together fail together: one pause, one line in the log.
  if (!is_paused(now_ns)) {
    pause_ns_ = std::clamp(pause_ns_ * 2, kPauseFirstNs, kPauseMaxNs);
    pause_until_ns_ = now_ns + pause_ns_;
    log_warning("fetch", "{}; trying again in {} ms, trainers wait (read.on_error: wait)",
                status.message(), pause_ns_ / 1'000'000);
  }
  return true;
}

Status StoreReader::check(const FetchRequest& request, std::span<const std::byte> bytes) {
  meter_.count_stored(bytes.size());
  if (index_.checksum(request.record) == 0) return {};
  const Status checked = record::check_record(index_, request.record, bytes);
  meter_.count_checked(checked.ok());
  if (!checked.ok()) source_->forget(index_.shard(request.extent.shard).object);
  return checked;
}

}  // namespace echoline::engine
