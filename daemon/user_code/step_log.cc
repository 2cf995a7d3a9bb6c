#include "user_code/step_log.h"

#include <algorithm>

#include "base/log.h"
#include "base/sanitize_name.h"
#include "base/utf8.h"

namespace echoline::user_code {
namespace {

constexpr std::size_t kGroupsMax = 64;

}  // namespace

std::string printable(std::string_view text) {
  std::string clean = to_utf8(text);
  for (char& c : clean) {
    const auto code = static_cast<unsigned char>(c);
    if ((code < 0x20 && c != '\n' && c != '\t') || code == 0x7f) c = '?';
  }
  return clean;
}

void StepLog::failed(const std::string& group, std::string_view summary, std::string_view details) {
  {
    const MutexLock lock(mutex_);
    // The set is bounded together with the log.
    if (groups_.size() >= kGroupsMax || !groups_.insert(group).second) return;
  }
  log_warning(step_, "{}: {}; further failures of this kind are only counted{}{}", file_,
              printable(summary), details.empty() ? "" : ":\n", printable(details));
}

bool StepLog::take_line() {
  const MutexLock lock(mutex_);
  if (lines_left_ == 0) return false;
  if (--lines_left_ == 0) {
    log_info(step_, "{}: what it writes from here on is not logged", file_);
    return false;
  }
  return true;
}

void StepLog::wrote(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    // sanitize_name() makes one line of it, and cuts it.
    if (end > 0 && take_line()) {
      log_info(step_, "{} wrote: {}", file_, sanitize_name(text.substr(0, end)));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace echoline::user_code
