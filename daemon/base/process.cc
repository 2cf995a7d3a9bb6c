#include "base/process.h"

#include <fstream>
#include <sstream>
#include <string>

namespace echoline {

std::uint64_t process_begin(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (pid <= 0 || !std::getline(file, line)) return 0;
  // The name is in parentheses and can contain any character, so search for the last ')'.
  std::istringstream rest(line.substr(line.rfind(')') + 1));
  std::string state;
  rest >> state;
  if (state == "Z" || state == "X") return 0;  // it has ended, its parent has not collected it yet
  constexpr int kFieldsBetween = 18;           // from state, the third, to starttime, the 22nd
  std::string skipped;
  for (int field = 0; field < kFieldsBetween; ++field) rest >> skipped;
  std::uint64_t begin = 0;
  rest >> begin;
  return begin;
}

}  // namespace echoline
