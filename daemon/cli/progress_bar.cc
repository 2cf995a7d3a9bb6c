// Uses two control sequences that every terminal knows: go to the start of the line, clear to its
// end.
#include "cli/progress_bar.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/clock.h"

namespace echoline::cli {
namespace {

constexpr std::uint64_t kPauseNs = 100'000'000;

}  // namespace

std::string draw_bar(std::uint64_t done, std::uint64_t total, std::size_t width) {
  const double share =
      total == 0 ? 0.0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(width));
  return fmt::format("[{}{}] {:3.0f}%", std::string(filled, '#'), std::string(width - filled, '-'),
                     share * 100);
}

ProgressLine::ProgressLine() : terminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (shown_) fmt::print(stderr, "\r\x1b[K");
}

void ProgressLine::show(const std::string& text) {
  const std::uint64_t now_ns = monotonic_ns();
  if (!terminal_ || (shown_ && now_ns - last_ns_ < kPauseNs)) return;
  shown_ = true;
  last_ns_ = now_ns;
  fmt::print(stderr, "\r\x1b[K{}", text);
  std::fflush(stderr);
}

}  // namespace echoline::cli
