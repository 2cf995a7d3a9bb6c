// The file has a line of three numbers for each: epoch, sample and use.
#include "user_code/kept_verdicts.h"

#include <fmt/core.h>

#include <iterator>
#include <sstream>

#include "base/atomic_file.h"
#include "base/bounded_file.h"
#include "base/log.h"

namespace echoline::user_code {
namespace {

constexpr std::size_t kVerdictsMax = 1 << 16;
constexpr std::size_t kFileBytesMax = 4 << 20;

}  // namespace

void KeptVerdicts::start(const std::string& path) {
  const MutexLock lock(mutex_);
  is_started_ = true;
  path_ = path;
  if (!path.empty()) places_ = load(path);
  count_ = places_.size();
}

bool KeptVerdicts::has(const UseKey& key) const {
  if (count_ == 0) return false;
  const MutexLock lock(mutex_);
  return places_.contains(place_of(key));
}

void KeptVerdicts::add(const UseKey& key) {
  const MutexLock lock(mutex_);
  if (!is_started_ || places_.size() >= kVerdictsMax) return;
  if (!places_.insert(place_of(key)).second) return;
  count_ = places_.size();
  save();
  if (places_.size() == kVerdictsMax)
    log_warning("python", "{} samples have ended or blocked their worker; no more are kept",
                kVerdictsMax);
}

std::set<KeptVerdicts::Place> KeptVerdicts::load(const std::string& path) {
  std::set<Place> places;
  const Result<std::string> text = read_bounded_file(path, kFileBytesMax);
  if (!text.ok()) return places;
  std::istringstream stream(text.value());
  for (Place place{}; places.size() < kVerdictsMax && stream >> place[0] >> place[1] >> place[2];)
    places.insert(place);
  return places;
}

void KeptVerdicts::save() const {
  if (path_.empty()) return;
  std::string text;
  for (const auto& [epoch, sample, use] : places_)
    fmt::format_to(std::back_inserter(text), "{} {} {}\n", epoch, sample, use);
  const Status saved = write_file_atomically(path_, text);
  if (!saved.ok())
    log_warning("python", "the list of samples that lost their workers cannot be saved: {}",
                saved.message());
}

}  // namespace echoline::user_code
