// The list replaces a listing. It does not contain offsets of records, so the shards are still
// scanned.
#include "record/tar/shard_list.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace echoline::record {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kListBytesMax = std::uint64_t{256} << 20;

const Json* find(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

std::string address_of(const std::string& list_url, const std::string& shard) {
  if (shard.find("://") != std::string::npos || shard.starts_with('/')) return shard;
  return list_url.substr(0, list_url.rfind('/') + 1) + shard;
}

Status expand(const source::ObjectInfo& list, std::string_view text, source::Source& source,
              std::vector<source::ObjectInfo>& objects) {
  ECHOLINE_ASSIGN(const std::vector<NamedShard> shards, parse_shard_list(text));
  std::vector<std::string> urls;
  for (const NamedShard& shard : shards) {
    urls.push_back(escape_glob(address_of(list.url, shard.url)));
  }
  // Addresses are literal here, so there is exactly one object each.
  ECHOLINE_ASSIGN(objects, source.list_all(urls));
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (shards[i].bytes == 0 || shards[i].bytes == objects[i].bytes) continue;
    return Status(
        Code::kDataLoss,
        fmt::format("{} has {} bytes where the list says {}: make the list again, or copy "
                    "the shard again",
                    objects[i].url, objects[i].bytes, shards[i].bytes));
  }
  return {};
}

}  // namespace

bool is_shard_list(std::string_view json) {
  const Json document = Json::parse(json, nullptr, false);
  const Json* shards = find(document, "shardlist");
  return shards != nullptr && shards->is_array();
}

Result<std::vector<NamedShard>> parse_shard_list(std::string_view json) {
  const Json document = Json::parse(json, nullptr, false);
  const Json* entries = find(document, "shardlist");
  if (entries == nullptr || !entries->is_array() || entries->empty()) {
    return Status(Code::kDataLoss, "no list of shards: it has no 'shardlist'");
  }
  std::vector<NamedShard> shards;
  for (const Json& entry : *entries) {
    const Json* url = find(entry, "url");
    if (url == nullptr || !url->is_string() || url->get<std::string>().empty()) {
      return Status(Code::kDataLoss, fmt::format("shard {} has no 'url'", shards.size()));
    }
    const Json* bytes = find(entry, "filesize");
    const bool said = bytes != nullptr && bytes->is_number_unsigned();
    shards.push_back({url->get<std::string>(), said ? bytes->get<std::uint64_t>() : 0});
  }
  return shards;
}

Status expand_shard_lists(source::Source& source, std::vector<Listed>& listed) {
  for (Listed& entry : listed) {
    if (!entry.url.ends_with(".json") || entry.objects.size() != 1) continue;
    const source::ObjectInfo list = entry.objects.front();
    if (list.bytes > kListBytesMax) continue;
    ECHOLINE_ASSIGN(const std::vector<std::byte> bytes, read_bytes(source, list, 0, list.bytes));
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!is_shard_list(text)) continue;
    Status status = expand(list, text, source, entry.objects);
    if (!status.ok()) return std::move(status).with_context(list.url);
  }
  return {};
}

}  // namespace echoline::record
