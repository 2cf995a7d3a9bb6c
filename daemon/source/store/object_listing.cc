// Objects come in the order of the addresses, those of a pattern sorted by address.
#include "source/store/object_listing.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "source/core/glob.h"
#include "source/store/list_operation.h"
#include "source/store/page_reader.h"
#include "source/store/run_operation.h"

namespace echoline::source {
namespace {

Status nothing_there(const Address& address) {
  return Status(
      Code::kNotFound,
      fmt::format("{}: no object matches; check the bucket and the pattern", address.url()));
}

ListQuery query_of(const Address& address) {
  ListQuery query;
  query.url = address.url();
  query.bucket = address.bucket;
  query.prefix = glob_prefix(address.path);
  // List one level only, unless the pattern matches below it.
  // A slash behind the literal prefix means that the pattern reaches into folders.
  const bool deep = address.is_tree() ||
                    address.path.find('/', std::min(query.prefix.size(), address.path.size())) !=
                        std::string::npos;
  if (!deep) query.delimiter.push_back('/');
  return query;
}

bool is_literal(const Address& address) { return !address.is_tree() && !has_glob(address.path); }

// Ends the listing of a store that would never end it, or that would fill the memory.
class ListingEnd {
 public:
  ListingEnd(const Address& address, const ListingOptions& options)
      : address_(address), options_(options) {}

  // After each page, which was asked for with `query`; `objects` were found so far.
  Status check(const ListQuery& query, const ListPage& page, std::size_t objects) {
    const std::string last_key =
        std::exchange(first_key_, page.entries.empty() ? std::string() : page.entries.front().key);
    const bool repeats_key = !first_key_.empty() && first_key_ == last_key;
    if (!page.next.empty() && (page.next == query.continuation || repeats_key))
      return Status(Code::kDataLoss, address_.url() + ": the store repeats a page of its listing");
    empty_pages_ = page.entries.empty() ? empty_pages_ + 1 : 0;
    if (empty_pages_ <= options_.empty_pages_max && objects <= options_.objects_max) return {};
    return Status(
        Code::kResourceExhausted,
        fmt::format("{}: the listing has {} after {} objects; name fewer objects in "
                    "read.url, or check the store",
                    address_.url(), empty_pages_ > 0 ? "only empty pages" : "no end", objects));
  }

 private:
  const Address& address_;
  const ListingOptions& options_;
  std::string first_key_;        // of the last page
  std::size_t empty_pages_ = 0;  // in sequence
};

}  // namespace

Status ObjectListing::probe(const std::vector<std::string>& urls) {
  std::vector<std::string> asked;
  for (const std::string& url : urls) {
    ECHOLINE_ASSIGN(Address address, parse_address(url));
    ECHOLINE_TRY(check_glob(address.path));
    // Once for each bucket or server.
    if (std::find(asked.begin(), asked.end(), address.bucket) != asked.end()) continue;
    asked.push_back(address.bucket);
    ECHOLINE_TRY(probe_one(std::move(address)));
  }
  return {};
}

Status ObjectListing::probe_one(Address address) {
  // The answer also says whether the bucket is there.
  if (store_.needs_pin(address.bucket)) return pin(address);
  if (is_literal(address)) {
    address.path = unescape_glob(address.path);
    return run(operations_, std::make_unique<StatOperation>(store_, address)).status();
  }
  ListQuery query = query_of(address);
  // One entry is enough to see whether the bucket may be listed.
  query.entries_max = 1;
  return run(operations_, std::make_unique<PageOperation>(store_, query)).status();
}

Status ObjectListing::pin(const Address& address) {
  if (!store_.needs_pin(address.bucket)) return {};
  return run(operations_, std::make_unique<PinOperation>(store_, address)).status();
}

Result<std::vector<ObjectInfo>> ObjectListing::list(const std::vector<std::string>& urls) {
  std::vector<ObjectInfo> all;
  // Consecutive literal addresses become parallel requests; a pattern in between keeps the order.
  std::vector<Address> literals;  // consecutive, requested together
  const auto append = [&all](std::vector<ObjectInfo> more) {
    std::move(more.begin(), more.end(), std::back_inserter(all));
  };
  for (const std::string& url : urls) {
    ECHOLINE_ASSIGN(Address address, parse_address(url));
    ECHOLINE_TRY(check_glob(address.path));
    ECHOLINE_TRY(pin(address));
    if (is_literal(address)) {
      address.path = unescape_glob(address.path);
      literals.push_back(std::move(address));
      continue;
    }
    ECHOLINE_ASSIGN(auto stats, stat_many(std::exchange(literals, {})));
    append(std::move(stats));
    ECHOLINE_ASSIGN(auto listed, list_pattern(address));
    append(std::move(listed));
  }
  ECHOLINE_ASSIGN(auto stats, stat_many(literals));
  append(std::move(stats));
  return all;
}

Result<std::vector<ObjectInfo>> ObjectListing::stat_many(const std::vector<Address>& addresses) {
  if (store_.names_max() > 0) return list_names(addresses);
  std::vector<ObjectInfo> infos(addresses.size());
  std::vector<OperationResult> ended;
  std::size_t started = 0;
  Status failure;
  // After a failure nothing new is started, but everything in flight is waited for.
  while (operations_.size() > 0 || (started < addresses.size() && failure.ok())) {
    while (failure.ok() && started < addresses.size() &&
           operations_.size() < options_.concurrency) {
      operations_.start(started, std::make_unique<StatOperation>(store_, addresses[started]));
      ++started;
    }
    ended.clear();
    operations_.step(UINT64_MAX, ended);
    for (OperationResult& result : ended) {
      if (result.status.ok())
        infos[result.id] = static_cast<StatOperation&>(*result.operation).take_info();
      else if (failure.ok())
        failure = std::move(result.status);
    }
  }
  ECHOLINE_TRY(std::move(failure));
  return infos;
}

Result<std::vector<ObjectInfo>> ObjectListing::list_names(const std::vector<Address>& addresses) {
  std::vector<ObjectInfo> infos;
  for (std::size_t first = 0, end = 0; first < addresses.size(); first = end) {
    ListQuery query;
    query.url = addresses[first].url();
    query.bucket = addresses[first].bucket;
    while (end < addresses.size() && addresses[end].bucket == query.bucket &&
           query.names.size() < store_.names_max())
      query.names.push_back(addresses[end++].path);
    ECHOLINE_ASSIGN(const ListPage page, list_page(query));
    // In no order, each once, and without those that do not exist.
    std::unordered_map<std::string_view, const ListEntry*> found;
    for (const ListEntry& entry : page.entries) found[entry.key] = &entry;
    for (const Address& address : std::span(addresses).subspan(first, end - first)) {
      const auto at = found.find(address.path);
      if (at == found.end())
        return Status(Code::kNotFound, address.url() + ": there is no such file");
      infos.push_back({address.url(), at->second->bytes, at->second->version});
    }
  }
  return infos;
}

Result<ListPage> ObjectListing::list_page(const ListQuery& query) {
  return read_page(operations_, store_, query, options_.answers_needed, counters_);
}

Result<std::vector<ObjectInfo>> ObjectListing::list_pattern(const Address& address) {
  std::vector<ObjectInfo> infos;
  ListQuery query = query_of(address);
  ListingEnd end(address, options_);
  for (bool more = true; more;) {
    ECHOLINE_ASSIGN(ListPage page, list_page(query));
    if (page.ambiguous) {
      ListQuery again = query;
      again.verbatim = true;
      ECHOLINE_ASSIGN(page, list_page(again));
    }
    for (ListEntry& entry : page.entries) {
      const bool is_marker = entry.key.empty() ||
                             entry.key.back() == '/';  // consoles create such objects as "folders"
      if (!is_marker && glob_matches(address.path, entry.key))
        infos.push_back({address.url_of(entry.key), entry.bytes, std::move(entry.version)});
    }
    ECHOLINE_TRY(end.check(query, page, infos.size()));
    more = !page.next.empty();
    query.continuation = std::move(page.next);
  }
  if (infos.empty()) return nothing_there(address);
  // Stores sort by key, not by address, and some do not sort at all.
  std::sort(infos.begin(), infos.end(),
            [](const ObjectInfo& a, const ObjectInfo& b) { return a.url < b.url; });
  const auto twice = std::ranges::adjacent_find(infos, {}, &ObjectInfo::url);
  if (twice != infos.end())
    return Status(Code::kDataLoss, twice->url + ": the store lists this object twice");
  return infos;
}

}  // namespace echoline::source
