// Each active shard has one window in flight or waits for room. When it lands, the scan takes it
// and says which one to read next. A careful scan takes a window only when it is certain
// (source::EqualAnswers). Scans begin careful where the bytes must be certain, and again from the
// start after an error.
#include "record/index/index_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/log.h"
#include "echoline/v1/config.pb.h"
#include "record/core/local_file.h"
#include "record/index/checksum_scan.h"
#include "record/index/scan_choice.h"

namespace echoline::record {
namespace {

constexpr std::uint64_t kPollNs = 100'000'000;  // between two reports, also of a silent store
constexpr std::uint64_t kProgressEveryNs = 100'000'000;

// Hops are short and mostly wait for the store, so there are more of them at a time.
constexpr std::size_t kHopsAtOnce = 128;
constexpr std::uint64_t kHopBytesMin = 4 << 10, kHopBytesMax = 64 << 10;
// Small files between large ones are read together with the next header: a hop over fewer bytes
// does not pay.
constexpr std::uint64_t kHopWorthBytes = 32 << 10;
// While the rate of a store is not known, windows begin with this size. They double while that
// makes them faster by this factor: so the first measurement is short, and few bytes are in flight
// at its end, for which hops would have to wait.
constexpr std::uint64_t kFirstWindowBytes = 512 << 10;
constexpr double kFasterFactor = 1.5;
// Records that were skipped have no checksum. That must be worth it.
constexpr double kHopGain = 1.2;

// One active shard. The buffer is the destination of its request in flight.
struct ShardJob {
  ShardJob(std::size_t number, ScanKeeper keeping) : shard(number), keeper(std::move(keeping)) {}
  // Goes on where an interrupted scan of the shard was.
  void begin(const ScanSpec& format, const source::ObjectInfo& object, std::uint64_t skip_bytes);
  // From the first byte, and carefully.
  void begin_again(const ScanSpec& format, const source::ObjectInfo& object,
                   std::uint64_t skip_bytes);

  const std::size_t shard;
  ScanKeeper keeper;
  std::unique_ptr<ShardScan> scan;
  Buffer buffer;
  bool careful = false;
  source::EqualAnswers answers{0};  // for the present window
  std::uint64_t bytes_done = 0;     // counted as done
  ScanMode mode = ScanMode::kRead;  // of the present window
  std::uint64_t begin_ns = 0;       // of its request
  std::uint64_t hop_bytes = kHopBytesMin;
  // While the rate of the store is not known.
  std::uint64_t read_bytes = kFirstWindowBytes;
  double read_rate = 0;  // of the fastest window, in bytes/ns

  std::uint64_t window_bytes(const ScanSettings& settings, const ScanChoice& choice) const;
  void begin_window(ScanMode of);
  // It moved the scan on by so many bytes.
  void end_window(std::uint64_t moved);
  void note_read();
  void note_hop(std::uint64_t moved);
};

void ShardJob::begin(const ScanSpec& format, const source::ObjectInfo& object,
                     std::uint64_t skip_bytes) {
  scan = format.make_scan(object, skip_bytes);
  // What was kept cannot be used.
  if (!keeper.restore(*scan)) scan = format.make_scan(object, skip_bytes);
  careful = keeper.careful();
  bytes_done = scan->position();
  if (!keeper.has_kept()) return;
  log_info("record", "{}: an interrupted index pass had scanned {:.1f} of {:.1f} MB: it continues",
           object.url, static_cast<double>(bytes_done) / 1e6,
           static_cast<double>(object.bytes) / 1e6);
}

void ShardJob::begin_again(const ScanSpec& format, const source::ObjectInfo& object,
                           std::uint64_t skip_bytes) {
  keeper.forget();
  scan = format.make_scan(object, skip_bytes);
  careful = true;
  bytes_done = 0;
}

std::uint64_t ShardJob::window_bytes(const ScanSettings& settings, const ScanChoice& choice) const {
  if (mode == ScanMode::kHop) return hop_bytes;
  if (!settings.may_hop || choice.rate(ScanMode::kRead) > 0) return settings.window_bytes;
  return std::min(read_bytes, settings.window_bytes);
}

void ShardJob::begin_window(ScanMode of) {
  mode = of;
  begin_ns = monotonic_ns();
}

void ShardJob::end_window(std::uint64_t moved) {
  mode == ScanMode::kRead ? note_read() : note_hop(moved);
}

void ShardJob::note_read() {
  const auto took_ns = static_cast<double>(monotonic_ns() - begin_ns + 1);
  const double rate = static_cast<double>(buffer.size()) / took_ns;
  if (rate < read_rate * kFasterFactor) return;
  read_rate = rate;
  read_bytes = buffer.size() * 2;
}

// Windows grow quickly where files are small, and shrink slowly.
void ShardJob::note_hop(std::uint64_t moved) {
  const bool pays = moved >= buffer.size() + kHopWorthBytes;
  hop_bytes =
      std::clamp(pays ? hop_bytes - hop_bytes / 8 : hop_bytes * 2, kHopBytesMin, kHopBytesMax);
}

// Of the shards that are being scanned; 0 if one of them has to be read through.
std::uint64_t mean_record_bytes(const std::vector<std::unique_ptr<ShardJob>>& jobs) {
  std::uint64_t bytes = 0, records = 0;
  for (const auto& job : jobs) {
    if (!job) continue;
    if (!job->scan->can_hop()) return 0;
    bytes += job->bytes_done;
    records += job->scan->table().size();
  }
  return records == 0 ? bytes : bytes / records;
}

void log_mode(const ScanChoice& choice) {
  const double read = choice.rate(ScanMode::kRead) / 1e6, hop = choice.rate(ScanMode::kHop) / 1e6;
  log_info("record", "indexing {} from here on: reading gave {:.0f} MB/s, hops {}",
           choice.mode() == ScanMode::kHop ? "by hops from header to header" : "by reading through",
           read, hop == 0 ? "are tried" : fmt::format("{:.0f} MB/s", hop));
}

void warn_of(const ShardScan& scan, const ShardTable& table) {
  const std::string& url = table.shard.object.url;
  if (scan.truncated()) {
    log_warning("record", "{} is truncated: {} records, the last of which is incomplete", url,
                table.records.size());
  } else if (table.records.size() == 0) {
    log_warning("record", "{} holds no records", url);
  }
}

class IndexBuild {
 public:
  IndexBuild(const std::vector<source::ObjectInfo>& shards, KnownTables known,
             const ScanSpec& format, source::Source& source, const ScanSettings& settings,
             const ProgressFunction& progress, IndexJournal& journal)
      : shards_(shards),
        known_(std::move(known)),
        format_(format),
        source_(source),
        settings_(settings),
        progress_(progress),
        journal_(journal),
        local_(!shards.empty() && local_path(shards.front().url)),
        careful_(source.answers_needed() > 1 && settings.certain),
        choice_(settings.may_hop ? kHopGain : 0) {
    seen_.shards = shards.size();
    for (const auto& shard : shards) seen_.bytes += shard.bytes;
  }

  Result<StoredIndex> run();

 private:
  bool start_more();
  void start(std::size_t slot, std::size_t shard);
  void start_again(std::size_t slot);
  void submit_ready();
  void submit(std::size_t slot);   // the next window
  void request(std::size_t slot);  // the present one
  Status landed(std::size_t slot, bool checked);
  Status take(std::size_t slot);
  bool is_certain(const ShardJob& job, bool checked) const;
  void choose_mode();
  std::size_t at_once() const;
  void continue_shard(std::size_t slot);
  void count(const ShardTable& table);
  void collect_in_order();
  Status poll();
  Status report(bool always);

  const std::vector<source::ObjectInfo>& shards_;
  KnownTables known_;  // known from the start, or done and waiting for earlier shards
  const ScanSpec& format_;
  source::Source& source_;
  const ScanSettings settings_;
  const ProgressFunction& progress_;
  IndexJournal& journal_;
  const bool local_;
  const bool careful_;  // from the start

  std::vector<std::unique_ptr<ShardJob>> jobs_;  // by slot, which is the tag of its request
  std::map<std::size_t, std::size_t> ready_;     // slots that want their next window, by shard
  std::size_t active_ = 0;
  std::size_t in_flight_ = 0;
  std::array<std::size_t, 2> in_flight_of_{};  // by ScanMode
  ScanChoice choice_;
  std::size_t next_shard_ = 0;  // to start
  StoredIndex index_;           // complete for shards [0, index_.shards.size())
  Progress seen_;
  std::uint64_t reported_ns_ = 0;
};

Result<StoredIndex> IndexBuild::run() {
  Status status;
  while (status.ok()) {
    const bool more = start_more();
    submit_ready();
    collect_in_order();
    // Nothing active and nothing left to start: all shards are done.
    if (active_ == 0 && !more) break;
    status = poll();
    choose_mode();
    if (status.ok()) status = report(false);
  }
  // Requests in flight write into the buffers only while the source is polled, so that an error
  // need not wait for them.
  if (!status.ok()) return status;
  ECHOLINE_TRY(report(true));
  index_.records.shrink();
  return std::move(index_);
}

// Starts shards while there is room. True while shards are left.
bool IndexBuild::start_more() {
  while (next_shard_ < shards_.size() && active_ < at_once()) {
    const std::size_t shard = next_shard_;
    // Known from an earlier pass or from a sidecar file.
    if (known_[shard]) {
      seen_.bytes_done += shards_[shard].bytes;
      count(*known_[shard]);
      ++next_shard_;
      continue;
    }
    if (in_flight_ + ready_.size() >= at_once() || source_.slots_free() <= ready_.size()) break;
    // A free slot, so that tags stay small.
    std::size_t slot = 0;
    while (slot < jobs_.size() && jobs_[slot]) ++slot;
    if (slot == jobs_.size()) jobs_.emplace_back();
    ++next_shard_;
    ++active_;
    start(slot, shard);
  }
  return next_shard_ < shards_.size();
}

void IndexBuild::start(std::size_t slot, std::size_t shard) {
  jobs_[slot] = std::make_unique<ShardJob>(shard, ScanKeeper(journal_.scans(), shards_[shard]));
  jobs_[slot]->begin(format_, shards_[shard], settings_.skip_bytes);
  jobs_[slot]->careful |= careful_;
  seen_.bytes_done += jobs_[slot]->bytes_done;
  continue_shard(slot);
}

void IndexBuild::start_again(std::size_t slot) {
  seen_.bytes_done -= jobs_[slot]->bytes_done;
  jobs_[slot]->begin_again(format_, shards_[jobs_[slot]->shard], settings_.skip_bytes);
  continue_shard(slot);
}

std::size_t IndexBuild::at_once() const {
  return choice_.mode() == ScanMode::kHop ? kHopsAtOnce : settings_.shards_at_once;
}

// The first shards first: after a change from hops to large windows only they have large buffers.
void IndexBuild::submit_ready() {
  while (!ready_.empty() && in_flight_ < at_once() && source_.slots_free() > 0) {
    const std::size_t slot = ready_.begin()->second;
    ready_.erase(ready_.begin());
    submit(slot);
  }
}

void IndexBuild::submit(std::size_t slot) {
  ShardJob& job = *jobs_[slot];
  job.begin_window(choice_.mode());
  const std::uint64_t before = job.scan->position();
  job.scan->set_hopping(job.mode == ScanMode::kHop);
  const std::uint64_t moved = job.scan->position() - before;  // wraps where it went back
  job.bytes_done += moved;
  seen_.bytes_done += moved;
  const source::ObjectInfo& object = shards_[job.shard];
  const std::uint64_t left = object.bytes - job.scan->position();
  // At least one window, or what the scan needs, up to the end of the shard.
  job.buffer.resize(
      std::min(left, std::max(job.window_bytes(settings_, choice_), job.scan->needed())));
  // A careful scan needs two equal answers for each window.
  job.answers = source::EqualAnswers(job.careful ? 2 : 0);
  request(slot);
}

void IndexBuild::request(std::size_t slot) {
  ShardJob& job = *jobs_[slot];
  source_.submit({slot, shards_[job.shard], {{job.scan->position(), job.buffer.span()}}});
  ++in_flight_;
  ++in_flight_of_[static_cast<std::size_t>(job.mode)];
}

void IndexBuild::choose_mode() {
  const auto present = static_cast<std::size_t>(choice_.mode());
  const std::uint64_t now = monotonic_ns();
  if (!choice_.is_due(now, in_flight_of_[present], in_flight_of_[1 - present])) return;
  const ScanOutlook outlook = {seen_.bytes - seen_.bytes_done, mean_record_bytes(jobs_)};
  if (choice_.decide(now, outlook)) log_mode(choice_);
}

Status IndexBuild::poll() {
  std::vector<source::ReadResult> done;
  source_.poll(monotonic_ns() + kPollNs, done);
  for (const source::ReadResult& result : done) {
    --in_flight_;
    --in_flight_of_[static_cast<std::size_t>(jobs_[result.tag]->mode)];
    Status status = result.status;
    if (status.ok()) status = landed(result.tag, result.checked);
    if (status.ok()) continue;
    return std::move(status).with_context("indexing " + shards_[jobs_[result.tag]->shard].url);
  }
  return {};
}

// Takes the window if it is certain enough, or requests it again.
Status IndexBuild::landed(std::size_t slot, bool checked) {
  ShardJob& job = *jobs_[slot];
  // Not certain yet: the same window is requested again, or the shard fails.
  if (job.careful && !job.answers.take(job.buffer.span(), checked)) {
    if (job.answers.differed()) source_.count_damaged();
    if (job.answers.exhausted()) {
      return source::never_equal(shards_[job.shard], job.scan->position(), job.buffer.size());
    }
    request(slot);
    return {};
  }
  const Status status = take(slot);
  if (status.ok() && is_certain(job, checked)) {
    job.keeper.keep(*job.scan, job.careful, monotonic_ns());
    continue_shard(slot);
    return {};
  }
  // A local disk would give the same bytes again, and a careful scan has compared them already.
  if (source_.answers_needed() == 0 || job.careful) return status;
  if (!status.ok()) {
    source_.count_damaged();
    log_info("record", "{}: {}; reading it again, each part until two answers are equal",
             shards_[job.shard].url, status.message());
  }
  // From the start, because it is not known which window was wrong.
  start_again(slot);
  return {};
}

Status IndexBuild::take(std::size_t slot) {
  ShardJob& job = *jobs_[slot];
  const std::uint64_t before = job.scan->position();
  ECHOLINE_TRY(job.scan->take(job.buffer.span()));
  const std::uint64_t moved = job.scan->position() - before;
  job.bytes_done += moved;
  seen_.bytes_done += moved;
  choice_.moved(moved, job.mode);
  job.end_window(moved);
  return {};
}

// Whether the scan may use what it has taken.
bool IndexBuild::is_certain(const ShardJob& job, bool checked) const {
  return checked || job.careful || source_.answers_needed() < 2 || job.scan->is_certain();
}

// Requests the next window, or takes the records of a finished shard.
void IndexBuild::continue_shard(std::size_t slot) {
  ShardJob& job = *jobs_[slot];
  if (!job.scan->done()) {
    ready_.emplace(job.shard, slot);
    return;
  }
  const source::ObjectInfo& object = shards_[job.shard];
  // Skipped bytes at the end count as done.
  seen_.bytes_done += object.bytes - job.scan->position();
  ShardTable table;
  table.records = job.scan->take_table();
  table.shard = {object, 0, table.records.size(), job.scan->unpacked_bytes(),
                 job.scan->meta_files()};
  table.records.trusted = !table.records.checksum.empty() && (local_ || settings_.certain);
  warn_of(*job.scan, table);
  count(table);
  journal_.add(table.shard, table.records);
  known_[job.shard] = std::move(table);
  jobs_[slot].reset();
  --active_;
}

void IndexBuild::count(const ShardTable& table) {
  ++seen_.shards_done;
  seen_.records += table.records.size();
}

// Moves finished tables into the index, in the order of the shards. All shards before next_shard_
// are active or done.
void IndexBuild::collect_in_order() {
  while (index_.shards.size() < next_shard_ && known_[index_.shards.size()]) {
    const std::size_t shard_index = index_.shards.size();
    ShardTable table = std::move(*known_[shard_index]);
    known_[shard_index].reset();
    table.shard.object = shards_[shard_index];
    table.shard.first_record = index_.records.size();
    index_.shards.push_back(std::move(table.shard));
    index_.records.append(table.records, 0, table.records.size());
  }
}

Status IndexBuild::report(bool always) {
  const std::uint64_t now = monotonic_ns();
  // Not for each window: the caller may write a log line.
  if (!progress_ || (!always && now - reported_ns_ < kProgressEveryNs)) return {};
  reported_ns_ = now;
  return progress_(seen_);
}

}  // namespace

ScanSettings scan_settings(const v1::Read& read, const std::vector<source::ObjectInfo>& shards,
                           const ScanSpec& format, Checksums checksums) {
  const bool all = checksums == Checksums::kAll;
  // Small tables at the start: one small request for each shard, many shards at once.
  if (format.table_at_start && !all) {
    return {.window_bytes = 0, .shards_at_once = 32, .certain = true};
  }
  const bool local = !shards.empty() && local_path(shards.front().url).has_value();
  // On a local disk, skipping from header to header costs little.
  if (local && read.throttle().latency() == 0 && !all) {
    return {.window_bytes = 64 << 10, .shards_at_once = 4};
  }
  constexpr std::uint64_t kWindowMin = 4 << 20, kWindowMax = 16 << 20, kAtOnce = 16;
  // With few shards each gets a larger window, so that about as many bytes are in flight.
  const std::uint64_t at_once = std::clamp<std::uint64_t>(shards.size(), 1, kAtOnce);
  // Less is read before the ways could be compared.
  std::uint64_t bytes = 0;
  for (const source::ObjectInfo& shard : shards) bytes += shard.bytes;
  const bool may_hop = !all && bytes > kAtOnce * kWindowMin;
  return {.window_bytes = std::clamp(kAtOnce * kWindowMin / at_once, kWindowMin, kWindowMax),
          .shards_at_once = kAtOnce,
          .skip_bytes = all ? kSkipNothing : kWindowMin,
          .certain = all,
          .may_hop = may_hop};
}

Result<StoredIndex> build_index(const std::vector<source::ObjectInfo>& shards, KnownTables known,
                                const ScanSpec& format, source::Source& source,
                                const ScanSettings& settings, const ProgressFunction& progress,
                                IndexJournal& journal) {
  return IndexBuild(shards, std::move(known), format, source, settings, progress, journal).run();
}

}  // namespace echoline::record
