// The rules are those of huggingface_hub's HfFileSystem, so that an address can be copied from
// there.
#include "source/core/hub_address.h"

#include <fmt/core.h>

#include <algorithm>

namespace echoline::source {
namespace {

constexpr std::string_view kScheme = "hf://";
constexpr std::string_view kDataSets = "datasets/";
constexpr std::string_view kForm =
    "write hf://datasets/OWNER/NAME/path, or "
    "hf://datasets/OWNER/NAME@REVISION/path";

Status wrong(std::string_view reason) {
  return Status(Code::kInvalidArgument, fmt::format("{}; {}", reason, kForm));
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// An owner or a name becomes one segment of a path of the interface.
bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 96 && text.front() != '.' &&
         text.find("..") == std::string_view::npos &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_word(c) || c == '-' || c == '.'; });
}

// How many characters of the text are a revision.
std::size_t revision_size(std::string_view text) {
  for (const std::string_view start : {"refs/convert/", "refs/pr/"}) {
    if (!text.starts_with(start)) continue;
    const auto* const end = std::find_if_not(text.begin() + start.size(), text.end(), is_word);
    return static_cast<std::size_t>(end - text.begin());
  }
  return std::min(text.find('/'), text.size());
}

}  // namespace

Result<HubAddress> split_hub_address(std::string_view rest) {
  if (!rest.starts_with(kDataSets)) return wrong("only data sets of the Hub can be read");
  const std::size_t owner = kDataSets.size();
  const std::size_t slash = std::min(rest.find('/', owner), rest.size());
  if (!is_name(rest.substr(owner, slash - owner)) || slash == rest.size())
    return wrong("the owner of the data set is missing");
  std::size_t end = std::min(rest.find_first_of("/@", slash + 1), rest.size());
  if (!is_name(rest.substr(slash + 1, end - slash - 1)))
    return wrong("that is no name of a data set");
  if (end < rest.size() && rest[end] == '@') {
    const std::size_t size = revision_size(rest.substr(end + 1));
    if (size == 0) return wrong("the revision behind @ is empty");
    end += 1 + size;
  }
  if (end < rest.size() && rest[end] != '/') return wrong("behind the revision comes a /");
  return HubAddress{std::string(rest.substr(0, end)),
                    std::string(rest.substr(std::min(end + 1, rest.size())))};
}

HubRevision hub_revision(std::string_view repository) {
  const std::string_view rest = repository.substr(std::min(kDataSets.size(), repository.size()));
  const std::size_t at = std::min(rest.find('@'), rest.size());
  return {std::string(rest.substr(0, at)),
          at == rest.size() ? "main" : std::string(rest.substr(at + 1))};
}

std::string without_revision(const std::string& url) {
  if (!url.starts_with(kScheme)) return url;
  const auto split = split_hub_address(std::string_view(url).substr(kScheme.size()));
  if (!split.ok()) return url;
  return fmt::format("{}{}{}/{}", kScheme, kDataSets, hub_revision(split->repository).name,
                     split->path);
}

}  // namespace echoline::source
