// A colon after a slash is part of a path.
#include "base/scheme.h"

#include <algorithm>

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
    case Scheme::kHub:
      return "hf";
  }
  return "";
}

std::string_view scheme_word(std::string_view address) {
  const std::size_t colon = address.find("://");
  if (colon == std::string_view::npos || colon > address.find('/')) return {};
  return address.substr(0, colon);
}

std::string_view word_without_slashes(std::string_view address) {
  const std::size_t colon = std::min(address.find(':'), address.size());
  const std::string_view word = address.substr(0, colon);
  const bool store =
      word == "s3" || word == "gs" || word == "http" || word == "https" || word == "hf";
  const bool names_more = address.find_first_not_of('/', colon + 1) != std::string_view::npos;
  return store && names_more && scheme_word(address).empty() ? word : std::string_view();
}

std::optional<Scheme> scheme_of(std::string_view address) {
  const std::string_view word = scheme_word(address);
  if (word.empty() || word == "file") return Scheme::kFile;
  if (word == "s3") return Scheme::kS3;
  if (word == "gs") return Scheme::kGcs;
  if (word == "http" || word == "https") return Scheme::kHttp;
  if (word == "hf") return Scheme::kHub;
  return std::nullopt;
}

}  // namespace echoline
