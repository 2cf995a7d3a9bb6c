#include "serve/door/trainer_log.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/pluralize.h"

namespace echoline::serve {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kLinesMax = 5;

}  // namespace

void TrainerLog::warn(const Connection& connection, std::string_view what) {
  const std::uint64_t now_ns = monotonic_ns();
  if (now_ns >= second_start_ns_ + kSecondNs) {
    // Logged once, when the next line comes.
    if (lines_ > kLinesMax)
      log_warning("door", "{} about trainers left out", pluralize(lines_ - kLinesMax, "more line"));
    second_start_ns_ = now_ns;
    lines_ = 0;
  }
  if (++lines_ <= kLinesMax)
    log_warning("door", "process {} of user {}: {}", connection.peer.pid, connection.peer.uid,
                what);
}

}  // namespace echoline::serve
