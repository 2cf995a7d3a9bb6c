// A progress line on the terminal; no output if stderr is no terminal.
#pragma once

#include <cstdint>
#include <string>

namespace echoline::cli {

// "[######----] 57%", with `width` characters between the brackets. For a total of 0 it is empty.
std::string draw_bar(std::uint64_t done, std::uint64_t total, std::size_t width);

// Not thread safe. The destructor clears the line.
class ProgressLine {
 public:
  ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  // Draws at most ten times a second and ignores the calls between.
  void show(const std::string& text);

 private:
  const bool terminal_;
  bool shown_ = false;
  std::uint64_t last_ns_ = 0;
};

}  // namespace echoline::cli
