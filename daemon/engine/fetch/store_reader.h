// The store's side of a fetcher: requests in flight, and the pause after a failure.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "engine/fetch/cache_router.h"
#include "engine/fetch/fetch_meter.h"
#include "engine/fetch/reads_in_flight.h"
#include "engine/fetch/request_coalescer.h"
#include "record/core/learned_checksums.h"
#include "source/core/source.h"

namespace echoline::engine {

// Called by the fetcher's thread; wake, counters and reads by any thread.
class StoreReader {
 public:
  // `wait_on_error`: retry for as long as the store is out of reach, with growing pauses.
  StoreReader(std::unique_ptr<source::Source> source, const record::Index& index,
              bool wait_on_error, FetchMeter& meter)
      : source_(std::move(source)),
        index_(index),
        wait_on_error_(wait_on_error),
        meter_(meter),
        learned_(index.record_count()) {}
  ~StoreReader();

  // A run waits here until the source has a slot for it.
  void add(FetchRun run) { ready_.push_back(std::move(run)); }
  // Slots for which there is neither a request nor a waiting run.
  bool has_slot_for_more(std::size_t reserved) const {
    return source_->slots_free() > ready_.size() + reserved;
  }
  // As many reads as may be in flight at once now, of a length with which each is worth the wait
  // for its answer. Longer ones would only keep more bytes in memory.
  RequestCoalescer::Reads reads_now() const;
  bool is_paused(std::uint64_t now_ns) const { return now_ns < pause_until_ns_; }
  std::uint64_t pause_until_ns() const { return pause_until_ns_; }
  bool has_requests() const { return !in_flight_.empty(); }
  // How long a read for this request should wait; 0: not at all. Reads in flight for an earlier
  // epoch of the same pass still keep the store busy, and this one would take bandwidth from bytes
  // that are needed sooner.
  std::uint64_t too_early_ns(const FetchRequest& next) const;

  // Submits waiting runs while there are slots. The records of requests that nobody wants any more
  // are appended to `dropped`.
  void submit_ready(std::uint64_t now_ns, std::vector<std::uint64_t>& dropped);
  // Blocks until something has ended, the deadline, or wake.
  std::vector<source::ReadResult> poll(std::uint64_t deadline_ns);

  // The requests of a result and, if it is ok, their bytes.
  struct Finished {
    FetchRun requests;
    std::vector<std::shared_ptr<Buffer>> buffers;
    ReadInFlight read;
  };
  Finished take(std::uint64_t tag);
  // Begins the pause after which the failed requests are tried again, and logs it. False: the error
  // is final, so the stream has failed.
  bool begin_pause(const Status& status, std::uint64_t now_ns);
  void end_pause() { pause_ns_ = 0; }
  // Judges the bytes of a record. `checked`, `checksum`: as in source::ReadResult. What the source
  // keeps of the object is forgotten if the record must be read again. An error ends the stream.
  enum class Check : std::uint8_t { kGood, kAgain };
  Result<Check> check(FetchRequest& request, std::span<const std::byte> bytes, bool checked,
                      std::optional<std::uint32_t> checksum);
  std::uint64_t checksum_bytes() const { return learned_.memory_bytes(); }

  void wake() { source_->wake(); }
  source::Counters counters() const { return source_->counters(); }
  std::vector<source::EndpointRates> rates() const { return source_->rates(); }
  const ReadsInFlight& reads() const { return reads_; }

 private:
  // The reads of one epoch of a pass.
  struct EpochReads {
    const echo::Account* pass;
    std::uint32_t epoch;
    auto operator<=>(const EpochReads&) const = default;
  };
  // What arrives while the store begins an answer (the bandwidth-delay product); 0: not known yet.
  double bytes_of_latency() const;
  static EpochReads epoch_of(const FetchRequest& request) {
    return {request.item->account(), request.item->epoch};
  }

  // Sends the run as one ranged read, with a buffer for each record.
  void submit(FetchRun run, std::uint64_t now_ns);
  // What an answer is compared with: the learned checksum, else that of the index.
  record::KnownChecksum known_checksum(std::uint64_t record) const;
  // Remembers the checksum of an accepted answer; logs the first one that replaces another.
  void learn(const FetchRequest& request, std::uint32_t found, record::AnswerVerdict verdict);

  std::unique_ptr<source::Source> source_;
  const record::Index& index_;
  const bool wait_on_error_;
  FetchMeter& meter_;
  record::LearnedChecksums learned_;
  bool logged_replaced_ = false;
  std::deque<FetchRun> ready_;
  std::unordered_map<std::uint64_t, Finished> in_flight_;  // by tag
  std::map<EpochReads, std::uint64_t> in_flight_bytes_;    // no entry is 0
  std::uint64_t next_tag_ = 0;
  ReadsInFlight reads_;  // the same for reports
  std::uint64_t pause_until_ns_ = 0;
  std::uint64_t pause_ns_ = 0;
};

}  // namespace echoline::engine
