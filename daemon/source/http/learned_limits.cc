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
    std::size_t limit = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), limit);
    const std::size_t digits = static_cast<std::size_t>(end - line.data());
    if (error != std::errc() || limit == 0 || limit > kLimitMax) continue;
    if (line.size() < digits + 2 || line[digits] != ' ') continue;
    insert({std::string(line.substr(digits + 1)), limit});
  }
}

void LearnedLimits::insert(Entry entry) {
  std::erase_if(entries_, [&](const Entry& old) { return old.endpoint == entry.endpoint; });
  entries_.push_back(std::move(entry));
  if (entries_.size() > kEndpointsMax) entries_.pop_front();
}

std::size_t LearnedLimits::find(const std::string& endpoint) const {
  const MutexLock lock(mutex_);
  for (const Entry& entry : entries_) {
    if (entry.endpoint == endpoint) return entry.limit;
  }
  return 0;
}

std::string LearnedLimits::text() const {
  std::string text;
  for (const Entry& entry : entries_) text += fmt::format("{} {}\n", entry.limit, entry.endpoint);
  return text;
}

void LearnedLimits::note(const std::string& endpoint, std::size_t limit) {
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
    log_warning("source", "the number of requests is not kept: {}", written.message());
}

}  // namespace echoline::source
