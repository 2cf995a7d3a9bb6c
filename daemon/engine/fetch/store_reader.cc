#include "engine/fetch/store_reader.h"

#include <algorithm>
#include <utility>

#include "base/crc.h"
#include "base/log.h"
#include "record/core/record_check.h"

namespace echoline::engine {
namespace {

// The pause doubles with each failure in a row: a store that restarts is not flooded, and its
// return is noticed within five seconds.
constexpr std::uint64_t kPauseFirstNs = 100'000'000;
constexpr std::uint64_t kPauseMaxNs = 5'000'000'000;

// What the reads of an epoch may still have to bring when those of the next one begin, at least: a
// store that answers at once is kept busy.
constexpr double kBusyBytesMin = 8 << 20;

// Errors that may end without anybody's help. All others need a change of data or configuration.
bool is_transient(Code code) {
  return code == Code::kUnavailable || code == Code::kDeadlineExceeded ||
         code == Code::kResourceExhausted;
}

}  // namespace

StoreReader::~StoreReader() {
  source_.reset();  // before the buffers that its transfers write to
}

void StoreReader::submit_ready(std::uint64_t now_ns, std::vector<std::uint64_t>& dropped) {
  // A pause of the store holds back waiting runs, too. What is in flight already goes on.
  while (!is_paused(now_ns) && !ready_.empty() && source_->slots_free() > 0) {
    FetchRun run = std::move(ready_.front());
    ready_.pop_front();
    // Noted before drop_unwanted removes them: requests of other passes may follow these records.
    for (const FetchRequest& request : run) {
      if (is_unwanted(request)) dropped.push_back(request.record);
    }
    meter_.drop_unwanted(run);
    if (!run.empty()) submit(std::move(run), now_ns);
  }
}

void StoreReader::submit(FetchRun run, std::uint64_t now_ns) {
  source::ReadRequest read;
  read.tag = next_tag_++;
  read.object = index_.shards()[run.front().extent.shard].object;
  // The destinations live in `in_flight_` until take(): the source writes to them during submit and
  // poll only.
  Finished& flight = in_flight_[read.tag];
  flight.requests = std::move(run);
  const record::Extent& first = flight.requests.front().extent;
  const record::Extent& last = flight.requests.back().extent;
  reads_.add(read.tag, {.begin_ns = now_ns,
                        .shard = first.shard,
                        .offset = first.offset,
                        .bytes = last.offset + last.bytes - first.offset,
                        .records = flight.requests.size(),
                        .first_record = flight.requests.front().record,
                        .last_record = flight.requests.back().record});
  in_flight_bytes_[epoch_of(flight.requests.front())] += last.offset + last.bytes - first.offset;
  flight.buffers.reserve(flight.requests.size());
  for (const FetchRequest& request : flight.requests) {
    const auto& buffer =
        flight.buffers.emplace_back(std::make_shared<Buffer>(request.extent.bytes));
    read.segments.push_back({request.extent.offset, buffer->span()});
    // Without a known checksum, the store's own one may be enough (`checked`).
    read.with_checksums |= known_checksum(request.record).value != 0;
  }
  source_->submit(std::move(read));
}

std::vector<source::ReadResult> StoreReader::poll(std::uint64_t deadline_ns) {
  std::vector<source::ReadResult> results;
  source_->poll(deadline_ns, results);
  return results;
}

StoreReader::Finished StoreReader::take(std::uint64_t tag) {
  Finished finished = std::move(in_flight_.extract(tag).mapped());
  finished.read = reads_.remove(tag);
  // Reads of empty records have no entry of their own.
  const auto reads = in_flight_bytes_.find(epoch_of(finished.requests.front()));
  if (reads != in_flight_bytes_.end() && (reads->second -= finished.read.bytes) == 0) {
    in_flight_bytes_.erase(reads);
  }
  return finished;
}

std::uint64_t StoreReader::too_early_ns(const FetchRequest& next) const {
  const EpochReads own = epoch_of(next);
  std::uint64_t bytes = 0;
  for (auto reads = in_flight_bytes_.lower_bound({own.pass, 0});
       reads != in_flight_bytes_.end() && reads->first < own; ++reads) {
    bytes += reads->second;
  }
  if (bytes == 0) return 0;
  const double busy = std::max(kBusyBytesMin, bytes_of_latency());
  const double left =
      static_cast<double>(bytes) - static_cast<double>(source_->counters().arriving);
  return static_cast<std::uint64_t>(std::max(0.0, (left - busy) * meter_.store_ns_per_byte()));
}

double StoreReader::bytes_of_latency() const {
  const double ns_per_byte = meter_.store_ns_per_byte();
  if (ns_per_byte == 0) return 0;
  return static_cast<double>(source_->counters().least_answer_ns) / ns_per_byte;
}

RequestCoalescer::Reads StoreReader::reads_now() const {
  return RequestCoalescer::Reads::worth(source_->slots_free() + in_flight_.size(),
                                        bytes_of_latency());
}

bool StoreReader::begin_pause(const Status& status, std::uint64_t now_ns) {
  if (!wait_on_error_ || !is_transient(status.code())) return false;
  // Requests that were in flight together fail together: one pause, one line in the log.
  if (!is_paused(now_ns)) {
    pause_ns_ = std::clamp(pause_ns_ * 2, kPauseFirstNs, kPauseMaxNs);
    pause_until_ns_ = now_ns + pause_ns_;
    reads_.set_pause(status.message(), pause_until_ns_);
    log_warning("fetch", "{}; trying again in {} ms, trainers wait (read.on_error: wait)",
                status.message(), pause_ns_ / 1'000'000);
  }
  return true;
}

// What was learned comes first: the index had no checksum, or a wrong one.
record::KnownChecksum StoreReader::known_checksum(std::uint64_t record) const {
  if (const std::uint32_t learned = learned_.find(record); learned != 0) return {learned, false};
  return {index_.checksum(record), index_.trusts_checksums()};
}

Result<StoreReader::Check> StoreReader::check(FetchRequest& request,
                                              std::span<const std::byte> bytes, bool checked,
                                              std::optional<std::uint32_t> checksum) {
  using enum record::AnswerVerdict;
  meter_.count_stored(bytes.size());
  const record::KnownChecksum known = known_checksum(request.record);
  const std::uint32_t needed = source_->answers_needed();
  // Whole files that agree with the store's checksum need none of their own.
  if (known.value == 0 && (checked || needed == 0)) return Check::kGood;
  const std::uint32_t found = checksum ? *checksum : crc32c(0, bytes);
  const record::AnswerVerdict verdict = request.answers.judge(known, needed, found, checked);
  meter_.count_checked(verdict);
  if (verdict == kFailed) {
    return record::wrong_answers(index_, request.record, known.value, found);
  }
  if (verdict == kWrong || verdict == kRepeat) {
    if (verdict == kWrong) source_->count_damaged();
    // Without this, a source that keeps parts of objects would answer with the same bytes again.
    source_->forget(index_.shard(request.extent.shard).object);
    return Check::kAgain;
  }
  // kAgreed and kUnchecked teach nothing new.
  if (verdict == kCertain || verdict == kReplaced) learn(request, found, verdict);
  return Check::kGood;
}

void StoreReader::learn(const FetchRequest& request, std::uint32_t found,
                        record::AnswerVerdict verdict) {
  learned_.learn(request.record, found);
  if (verdict != record::AnswerVerdict::kReplaced || logged_replaced_) return;
  logged_replaced_ = true;
  log_warning("fetch",
              "{}: equal answers for record {} disagree with its checksum, which was made from one "
              "answer: the new checksum is used (said once; echoline_records_checked_total counts "
              "such records); `echoline index --checksums` makes checksums that are certain",
              index_.shard(request.extent.shard).object.url, index_.key(request.record));
}

}  // namespace echoline::engine
