// 501 (not implemented) is the one server error that a retry cannot help.
#include "source/http/store_answer.h"

#include <fmt/core.h>

#include "source/core/source.h"

namespace echoline::source {
namespace {

constexpr std::size_t kTextBytesMax = 300;

}  // namespace

bool retry_by_status(int status) {
  // 408 and 425: the server did not take the request. 429: it takes too many.
  return status == 408 || status == 425 || status == 429 || (status >= 500 && status != 501);
}

Code code_of_status(int status) {
  switch (status) {
    case 401:
    case 403:
      return Code::kPermissionDenied;
    case 404:
    case 410:
      return Code::kNotFound;
    case 412:
      return Code::kFailedPrecondition;
    case 416:
      // The range begins behind the end of the object.
      return Code::kDataLoss;
    case 501:
      return Code::kUnimplemented;
    default:
      return Code::kInvalidArgument;
  }
}

std::string_view hint_by_status(int status) {
  // Built once; the result refers to it.
  static const std::string kChanged =
      fmt::format("it changed since it was indexed; {}", kReindexHint);
  static const std::string kShorter =
      fmt::format("it is shorter than the index says; {}", kReindexHint);
  if (status == 412) return kChanged;
  if (status == 416) return kShorter;
  return {};
}

std::string printable(std::string_view text) {
  std::string result(text.substr(0, kTextBytesMax));
  for (char& c : result)
    // Control characters could change the terminal that shows the log.
    if (static_cast<unsigned char>(c) < ' ' || c == 127) c = ' ';
  return result;
}

}  // namespace echoline::source
