#include "source/http/learned_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/atomic_file.h"
#include "base/bounded_file.h"
#include "base/log.h"

namespace echoline::source {
namespace {

constexpr std::size_t kFileBytesMax = 64 << 10;
constexpr std::size_t kLimitMax = 100'000;
constexpr std::uint64_t kRateMax = 1'000'000'000'000;

// A number and the space behind it.
template <typename Number>
bool take_number(std::string_view& line, Number& number) {
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  if (error != std::errc() || !line.starts_with(' ')) return false;
  line.remove_prefix(1);
  return true;
}

}  // namespace

LearnedLimits& LearnedLimits::of_process() {
  static LearnedLimits limits;
  return limits;
}

void LearnedLimits::keep_in(std::string path) {
  const Result<std::string> kept = read_bounded_file(path, kFileBytesMax);
  const MutexLock lock(mutex_);
  path_ = std::move(path);
  if (kept.ok()) read(kept.value());
}

// Ignores lines that it does not understand.
void LearnedLimits::read(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    LearnedLimit limit;
    if (!take_number(line, limit.requests) || !take_number(line, limit.bytes_per_second)) continue;
    if (limit.requests == 0 || limit.requests > kLimitMax || line.empty()) continue;
    if (limit.bytes_per_second > kRateMax) continue;
    insert({std::string(line), limit});
  }
}

void LearnedLimits::insert(Entry entry) {
  std::erase_if(entries_, [&](const Entry& old) { return old.endpoint == entry.endpoint; });
  entries_.push_back(std::move(entry));
  if (entries_.size() > kEndpointsMax) entries_.pop_front();
}

LearnedLimit LearnedLimits::find(const std::string& endpoint) const {
  const MutexLock lock(mutex_);
  for (const Entry& entry : entries_) {
    if (entry.endpoint == endpoint) return entry.limit;
  }
  return {};
}

std::string LearnedLimits::text() const {
  std::string text;
  for (const auto& [endpoint, limit] : entries_) {
    text += fmt::format("{} {} {}\n", limit.requests, limit.bytes_per_second, endpoint);
  }
  return text;
}

void LearnedLimits::note(const std::string& endpoint, LearnedLimit limit) {
  // The file is written in the order of the notes, and find() does not wait for the disk.
  const MutexLock file_lock(file_mutex_);
  std::string path, content;
  {
    const MutexLock lock(mutex_);
    insert({endpoint, limit});
    path = path_;
    content = text();
  }
  if (path.empty()) return;
  const Status written = write_file_atomically(path, content);
  if (!written.ok())
    log_warning("source", "the number of requests and the rate are not kept: {}", written.message());
}

}  // namespace echoline::source
