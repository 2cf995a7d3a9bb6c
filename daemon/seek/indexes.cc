#include "seek/indexes.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/log.h"

namespace echoline::seek {
namespace {

// In [0, 1); independent of the order of the data set and of streams.
double rank_of(std::uint64_t file) {
  return static_cast<double>(XXH3_64bits_withSeed(&file, sizeof file, 0x7365656b) >> 11) * 0x1p-53;
}

}  // namespace

Indexes::Indexes(const Options& options)
    : files_(std::max<std::uint64_t>(1, options.files)),
      capacity_bytes_(options.capacity_bytes),
      identity_(options.identity),
      table_(options.capacity_bytes) {
  if (options.path.empty()) return;
  remove_unused_logs(options.path, options.unused_bytes_max);
  read_log(options.path);
}

void Indexes::read_log(const std::string& path) {
  Result<Log> log = Log::open(path, identity_);
  if (!log.ok()) {
    log_info("seek", "JPEG seek indexes are not kept for the next start: {}",
             log.status().message());
    return;
  }
  const Status read = log.value().read([this](std::span<const std::byte> entry) {
    EntryHead head;
    std::memcpy(&head, entry.data(), sizeof head);
    return table_.add(entry) || table_.find(head.file) != nullptr;
  });
  if (!read.ok()) log_warning("seek", "{}: {}", path, read.message());
  // What was read is in the log already.
  while (!table_.next(written_).empty()) continue;
  log_ = std::move(log).value();
  has_log_ = true;
}

jpeg::SeekPoints Indexes::find(std::uint64_t file, jpeg::Bytes bytes) {
  const EntryHead* entry = table_.find(file);
  // The checksum of the bytes takes a hundredth of the time of decoding them.
  if (entry == nullptr || entry->checksum != checksum_of(bytes)) {
    misses_.fetch_add(1, std::memory_order_relaxed);
    return {};
  }
  hits_.fetch_add(1, std::memory_order_relaxed);
  return points_of(*entry);
}

void Indexes::offer(std::uint64_t file, jpeg::Bytes bytes, jpeg::SeekPoints points) {
  if (points.empty() || points.size() > kPointsMax) return;
  EntryHead head{.file = file, .points = static_cast<std::uint32_t>(points.size())};
  if (!choose(file, head.bytes() + EntryTable::kOverheadBytes)) return;
  head.checksum = checksum_of(bytes);
  std::vector<std::byte> entry(head.bytes());
  std::memcpy(entry.data(), &head, sizeof head);
  std::memcpy(entry.data() + sizeof head, points.data(), points.size_bytes());
  head.check = check_of(entry, identity_);
  std::memcpy(entry.data(), &head.check, sizeof head.check);
  if (!table_.add(entry) || !has_log_) return;
  if (!has_new_.exchange(true) && on_new_) on_new_();
}

bool Indexes::choose(std::uint64_t file, std::uint64_t cost) {
  if (table_.find(file) != nullptr) return false;
  const auto count = static_cast<double>(offered_.fetch_add(1, std::memory_order_relaxed) + 1);
  const auto sum =
      static_cast<double>(offered_bytes_.fetch_add(cost, std::memory_order_relaxed) + cost);
  // The sizes of the others are not known: they are taken to be as those of the files seen so far.
  const double all_bytes = static_cast<double>(files_) * (sum / count);
  return rank_of(file) * all_bytes < static_cast<double>(capacity_bytes_);
}

void Indexes::write() {
  // Before the entries are looked at: one that comes later is reported again.
  has_new_.store(false);
  while (log_) {
    const auto entries = table_.next(written_);
    if (entries.empty()) return;
    const Status written = log_->append(entries);
    if (written.ok()) continue;
    log_warning("seek", "{}; further JPEG seek indexes are not kept for the next start",
                written.message());
    log_.reset();
  }
}

}  // namespace echoline::seek
