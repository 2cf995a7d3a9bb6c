#include "source/http/learned_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/atomic_file.h"
#include "base/bounded_file.h"
#include "base/log.h"

namespace echoline::source {
namespace {

constexpr std::size_t kFileBytesMax = 64 << 10;
constexpr std::size_t kLimitMax = 100'000;

// Nothing for anything else than digits, or for too many of them.
std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (text.empty() || read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
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
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    std::string_view endpoint = line.substr(space + 1);
    const auto limit = number_of(line.substr(0, space));
    // A line of an older version has no rate.
    const std::size_t last = endpoint.rfind(' ');
    const auto rate = number_of(last == std::string_view::npos ? "" : endpoint.substr(last + 1));
    if (rate) endpoint = endpoint.substr(0, last);
    if (!limit || *limit == 0 || *limit > kLimitMax || endpoint.empty()) continue;
    insert({std::string(endpoint), {.limit = *limit, .bytes_per_second = rate.value_or(0)}});
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
    if (entry.endpoint == endpoint) return entry.learned;
  }
  return {};
}

std::string LearnedLimits::text() const {
  std::string text;
  for (const auto& [endpoint, learned] : entries_) {
    text += fmt::format("{} {} {}\n", learned.limit, endpoint, learned.bytes_per_second);
  }
  return text;
}

void LearnedLimits::note(const std::string& endpoint, const LearnedLimit& learned) {
  // The file is written in the order of the notes, and find() does not wait for the disk.
  const MutexLock file_lock(file_mutex_);
  std::string path, content;
  {
    const MutexLock lock(mutex_);
    insert({endpoint, learned});
    path = path_;
    content = text();
  }
  if (path.empty()) return;
  const Status written = write_file_atomically(path, content);
  if (!written.ok())
    log_warning("source", "the number of requests is not kept: {}", written.message());
}

}  // namespace echoline::source
