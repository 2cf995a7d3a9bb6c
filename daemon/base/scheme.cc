// A colon that comes after a slash belongs to a path.
#include "base/scheme.h"

namespace echoline {

std::string_view to_string(Scheme scheme) {
  switch (scheme) {
    case Scheme::kFile:
      return "file";
    case Scheme::kS3:
      return "s3";
    case Scheme::kGcs:
      return "gs";
    case Scheme::kHttp:
      return "http";
  }
  return "";
}

std::string_view scheme_word(std::string_view address) {
  const std::size_t colon = address.find("://");
  if (colon == std::string_view::npos || colon > address.find('/')) return {};
  return address.substr(0, colon);
}

std::optional<Scheme> scheme_of(std::string_view address) {
  const std::string_view word = scheme_word(address);
  if (word.empty() || word == "file") return Scheme::kFile;
  if (word == "s3") return Scheme::kS3;
  if (word == "gs") return Scheme::kGcs;
  if (word == "http" || word == "https") return Scheme::kHttp;
  return std::nullopt;
}

}  // namespace echoline
