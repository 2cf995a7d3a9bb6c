// The interface is described at huggingface.co/docs/hub/api; sizes are JSON numbers there.
#include "source/store/hub_answer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "source/credentials/json_members.h"
#include "source/http/escape.h"
#include "source/http/store_answer.h"

namespace echoline::source {
namespace {

using Json = nlohmann::json;

// A SHA-1 in hexadecimal digits; SHA-256 in repositories of a later kind.
bool is_commit(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// The value of a parameter of an address; empty if it has none.
std::string parameter_of(std::string_view url, std::string_view name) {
  std::string_view rest = url.substr(std::min(url.find('?'), url.size()));
  while (!rest.empty()) {
    // At '?' or '&'.
    rest.remove_prefix(1);
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(pair.size());
    if (pair.starts_with(name) && pair.substr(name.size()).starts_with('='))
      return percent_decoded(pair.substr(name.size() + 1));
  }
  return {};
}

}  // namespace

Result<ListPage> parse_hub_tree(std::string_view body, const std::string& commit) {
  // Without exceptions: the result is "discarded" for anything that is not JSON, and no array.
  const Json json = Json::parse(body, nullptr, false);
  if (!json.is_array()) return Status(Code::kDataLoss, "it is not a list of files");
  ListPage page;
  for (const Json& item : json) {
    if (!item.is_object()) return Status(Code::kDataLoss, "an entry is not a JSON object");
    // Folders, and modules of git.
    if (text_member(item, "type") != "file") continue;
    const auto size = item.find("size");
    ListEntry entry{text_member(item, "path"), 0, commit};
    if (entry.key.empty() || size == item.end() || !size->is_number_unsigned())
      return Status(Code::kDataLoss, "a file has no path or no size; is this the Hub?");
    entry.bytes = size->get<std::uint64_t>();
    page.entries.push_back(std::move(entry));
  }
  return page;
}

Result<std::string> parse_hub_commit(std::string_view body) {
  const Json json = Json::parse(body, nullptr, false);
  std::string commit = json.is_object() ? text_member(json, "sha") : std::string();
  if (!is_commit(commit))
    return Status(Code::kDataLoss, "the answer names no commit; is this the Hub?");
  return commit;
}

std::string hub_cursor(const HttpResponse& response) {
  // Several links are separated by commas: <address>; rel="next"
  std::string_view rest = response.header("link");
  while (!rest.empty()) {
    const std::size_t open = std::min(rest.find('<'), rest.size());
    const std::size_t close = std::min(rest.find('>', open), rest.size());
    const std::size_t end = std::min(rest.find(',', close), rest.size());
    if (rest.substr(close, end - close).find("rel=\"next\"") != std::string_view::npos)
      return parameter_of(rest.substr(open, close - open), "cursor");
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

std::string hub_moved_to(std::string_view location) {
  constexpr std::string_view kMark = "/datasets/";
  const std::size_t mark = location.find(kMark);
  if (mark == std::string_view::npos) return {};
  const std::string_view name = location.substr(mark + kMark.size());
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return {};
  return printable(name.substr(0, name.find_first_of("/?", slash + 1)));
}

std::string hub_error_text(const HttpResponse& response, std::string_view body) {
  const Json json = Json::parse(body, nullptr, false);
  const std::string text = json.is_object() ? text_member(json, "error") : std::string();
  return printable(text.empty() ? response.header("x-error-message") : text);
}

}  // namespace echoline::source
