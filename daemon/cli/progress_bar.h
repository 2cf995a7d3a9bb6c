// One line on the terminal that is drawn over and over; nothing where stderr is no terminal.
#pragma once

#include <cstdint>
#include <string>

namespace echoline::cli {

// "[######----] 57%", `width` characters between the brackets; empty bars for a total of 0.
std::string draw_bar(std::uint64_t done, std::uint64_t total, std::size_t width);

// Not thread safe. The line is cleared at the end.
class ProgressLine {
 public:
  ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  // At most ten times a second; the rest is left out.
  void show(const std::string& text);

 private:
  const bool terminal_;
  bool shown_ = false;
  std::uint64_t last_ns_ = 0;
};

}  // namespace echoline::cli
