#include "source/http/answer_kind.h"

#include <algorithm>

namespace echoline::source {

bool AnswerKind::note(std::uint64_t bytes, std::uint64_t now_ns) {
  // A moving mean over about eight answers. A single very long one does not make all of them long.
  mean_bytes_ += (std::min(static_cast<double>(bytes), 2 * kLongBytes) - mean_bytes_) / 8;
  // Between the two sizes the present kind stays.
  if (mean_bytes_ >= kShortBytes && mean_bytes_ <= kLongBytes) return false;
  const bool is_short = mean_bytes_ < kShortBytes;
  // More requests are shorter ones, so a search for their number can change the kind itself, and
  // would begin again and again.
  const std::uint64_t lasted_ns = now_ns - since_ns_;
  const std::uint64_t rest_ns = changes_ < 2 ? 0 : kRestNs << (changes_ - 2);
  if (is_short == is_short_ || lasted_ns < rest_ns) return false;
  changes_ = lasted_ns > 2 * kRestMaxNs ? 1 : std::min(changes_ + 1, kChangesMax);
  since_ns_ = now_ns;
  is_short_ = is_short;
  return true;
}

}  // namespace echoline::source
