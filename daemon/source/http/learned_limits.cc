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
    Learned learned;
    const auto [end, error] =
        std::from_chars(line.data(), line.data() + line.size(), learned.limit);
    const std::size_t digits = static_cast<std::size_t>(end - line.data());
    if (error != std::errc() || learned.limit == 0 || learned.limit > kLimitMax) continue;
    if (line.size() < digits + 2 || line[digits] != ' ') continue;
    const std::string_view rest = line.substr(digits + 1);
    const std::string_view endpoint = rest.substr(0, rest.find(' '));
    // A line of an older version has no rate.
    if (rest.size() > endpoint.size() + 1) {
      const std::string_view rate = rest.substr(endpoint.size() + 1);
      std::from_chars(rate.data(), rate.data() + rate.size(), learned.bytes_per_second);
    }
    insert({std::string(endpoint), learned});
  }
}

void LearnedLimits::insert(Entry entry) {
  std::erase_if(entries_, [&](const Entry& old) { return old.endpoint == entry.endpoint; });
  entries_.push_back(std::move(entry));
  if (entries_.size() > kEndpointsMax) entries_.pop_front();
}

LearnedLimits::Learned LearnedLimits::find(const std::string& endpoint) const {
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

void LearnedLimits::note(const std::string& endpoint, const Learned& learned) {
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
