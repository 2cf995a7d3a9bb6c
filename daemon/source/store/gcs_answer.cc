// Sizes and generations are strings, because JSON numbers cannot hold 64 bits.
#include "source/store/gcs_answer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "source/http/content_range.h"
#include "source/http/store_answer.h"

namespace echoline::source {
namespace {

using Json = nlohmann::json;

// Missing members and members of another type count as empty.
std::string text_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// A generation is a 64-bit number, so it has at most 20 digits.
bool is_generation(std::string_view text) {
  return !text.empty() && text.size() <= 20 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Result<ListEntry> entry_of(const Json& json) {
  if (!json.is_object())
    return Status(Code::kDataLoss, "an object of the listing is not a JSON object");
  ListEntry entry{text_of(json, "name"), 0, text_of(json, "generation")};
  const auto bytes = parse_length(text_of(json, "size"));
  if (!bytes || !is_generation(entry.version))
    return Status(Code::kDataLoss,
                  "the answer has no size or no generation; is this Google Cloud Storage?");
  entry.bytes = *bytes;
  return entry;
}

}  // namespace

Result<ListPage> parse_gcs_list(std::string_view body) {
  // Without exceptions: the result is "discarded" for anything that is not JSON, and no object.
  const Json json = Json::parse(body, nullptr, false);
  if (!json.is_object() || text_of(json, "kind") != "storage#objects")
    return Status(Code::kDataLoss, "it is not a list of objects");
  ListPage page;
  page.next = text_of(json, "nextPageToken");
  page.truncated = !page.next.empty();
  const auto items = json.find("items");
  // A page without objects has no `items`.
  if (items == json.end()) return page;
  if (!items->is_array()) return Status(Code::kDataLoss, "its items are not a list");
  for (const Json& item : *items) {
    ECHOLINE_ASSIGN(ListEntry entry, entry_of(item));
    if (entry.key.empty()) return Status(Code::kDataLoss, "an object without a name");
    page.entries.push_back(std::move(entry));
  }
  return page;
}

Result<ListEntry> parse_gcs_object(std::string_view body) {
  // No object: entry_of says so.
  return entry_of(Json::parse(body, nullptr, false));
}

std::string gcs_error_text(std::string_view body) {
  const Json json = Json::parse(body, nullptr, false);
  if (!json.is_object()) return {};
  const auto error = json.find("error");
  return error != json.end() && error->is_object() ? printable(text_of(*error, "message"))
                                                   : std::string();
}

}  // namespace echoline::source
