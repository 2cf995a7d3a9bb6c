#include "engine/stream/definition_diff.h"

#include <fmt/format.h>
#include <google/protobuf/util/message_differencer.h>

#include <sstream>

namespace echoline::engine {
namespace {

// Differences in the message; the rest is only counted.
constexpr std::size_t kShown = 3;

}  // namespace

std::string differences_of(const v1::Stream& before, const v1::Stream& after) {
  std::string report;
  google::protobuf::util::MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&report);
  if (differencer.Compare(before, after)) return {};
  std::istringstream lines(report);
  std::string text;
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (count++ < kShown) text += (text.empty() ? "" : ", ") + line;
  }
  return count > kShown ? fmt::format("{}, and {} more", text, count - kShown) : text;
}

}  // namespace echoline::engine
