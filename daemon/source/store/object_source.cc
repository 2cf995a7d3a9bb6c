// Reads use one set of connections with the configured concurrency, listings and writes another.
#include "source/store/object_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "base/check.h"
#include "base/clock.h"
#include "source/core/glob.h"
#include "source/store/list_operation.h"
#include "source/store/page_reader.h"
#include "source/store/put_operation.h"
#include "source/store/read_operation.h"

namespace echoline::source {
namespace {

// A wrong setting should be an error within seconds.
constexpr std::uint32_t kProbeAttemptsMax = 4;
// One connection transfers this in a fraction of a second.
constexpr std::uint64_t kPartBytes = kSplitReadBytes / 2;

// Runs one operation to its end; no other may be in flight in `operations`.
template <typename T>
Result<std::unique_ptr<T>> run(HttpOperations& operations, std::unique_ptr<T> operation) {
  std::vector<OperationResult> ended;
  operations.start(0, std::move(operation));
  while (ended.empty()) operations.step(UINT64_MAX, ended);
  ECHOLINE_TRY(std::move(ended[0].status));
  return std::unique_ptr<T>(static_cast<T*>(ended[0].operation.release()));
  // The caller knows the type: it is the operation that was started above.
}

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

// Splits a request into requests of about kPartBytes.
std::vector<ReadRequest> parts_of(const ReadRequest& request) {
  const std::vector<Segment>& segments = request.segments;
  const std::uint64_t begin = segments.front().offset;
  const std::uint64_t end = segments.back().offset + segments.back().destination.size();
  // As many parts as full ones fit, of about equal length.
  const std::uint64_t count = std::max<std::uint64_t>((end - begin) / kPartBytes, 1);
  const std::uint64_t part_bytes = (end - begin) / count + 1;
  // A segment that crosses a border is cut; its pieces go into two parts. So only a single part has
  // the checksums of segments.
  std::vector<ReadRequest> parts(count);
  for (ReadRequest& part : parts) {
    part.object = request.object;
    part.with_checksums = request.with_checksums && count == 1;
  }
  // The checksums are numbered as the segments of the caller, empty ones too.
  if (count == 1) {
    parts.front().segments = segments;
    return parts;
  }
  for (Segment segment : segments) {
    while (!segment.destination.empty()) {
      const std::uint64_t part = (segment.offset - begin) / part_bytes;
      const std::uint64_t left = begin + (part + 1) * part_bytes - segment.offset;
      const std::size_t bytes = std::min<std::uint64_t>(left, segment.destination.size());
      parts[part].segments.push_back({segment.offset, segment.destination.first(bytes)});
      segment = {segment.offset + bytes, segment.destination.subspan(bytes)};
    }
  }
  std::erase_if(parts, [](const ReadRequest& part) { return part.segments.empty(); });
  return parts;
}

}  // namespace

ObjectSource::ObjectSource(std::unique_ptr<ObjectStore> store, ObjectSourceOptions options)
    : store_(std::move(store)),
      options_(std::move(options)),
      reads_(limits(), counters_),
      slots_(reads_.limit()) {
  checksums_.level = options_.checksums;
  checksums_.etag_is_md5 = options_.etag_is_md5;
}

OperationLimits ObjectSource::limits() const {
  return {.timeout_ns = options_.timeout_ns,
          .stall_ns = options_.stall_ns,
          .connections_max = options_.concurrency,
          .hedged = options_.hedged,
          .ca_file = options_.ca_file};
}

HttpOperations& ObjectSource::queries() {
  if (!queries_) queries_ = std::make_unique<HttpOperations>(limits(), counters_);
  return *queries_;
}

Status ObjectSource::probe(const std::vector<std::string>& urls) {
  // The attempts of a probe are not counted as reads.
  SharedCounters unseen;
  OperationLimits few = limits();
  few.attempts_max = kProbeAttemptsMax;
  few.connections_max = 1;
  HttpOperations operations(few, unseen);
  std::vector<std::string> asked;
  for (const std::string& url : urls) {
    ECHOLINE_ASSIGN(Address address, parse_address(url));
    ECHOLINE_TRY(check_glob(address.path));
    // Once for each bucket or server.
    if (std::find(asked.begin(), asked.end(), address.bucket) != asked.end()) continue;
    asked.push_back(address.bucket);
    if (store_->needs_pin(address.bucket)) {
      ECHOLINE_TRY(pin(operations, address));
      continue;
    }
    if (is_literal(address)) {
      address.path = unescape_glob(address.path);
      ECHOLINE_TRY(run(operations, std::make_unique<StatOperation>(*store_, address)).status());
    } else {
      ListQuery query = query_of(address);
      // One entry is enough to see whether the bucket may be listed.
      query.entries_max = 1;
      ECHOLINE_TRY(run(operations, std::make_unique<PageOperation>(*store_, query)).status());
    }
  }
  return {};
}

Status ObjectSource::pin(HttpOperations& operations, const Address& address) {
  if (!store_->needs_pin(address.bucket)) return {};
  return run(operations, std::make_unique<PinOperation>(*store_, address)).status();
}

Result<std::vector<ObjectInfo>> ObjectSource::list(const std::string& url) {
  return list_all({url});
}

Result<std::vector<ObjectInfo>> ObjectSource::list_all(const std::vector<std::string>& urls) {
  auto listed = list_each(urls);
  queries_.reset();  // frees its connections and its share of the endpoint's limit
  return listed;
}

Result<std::vector<ObjectInfo>> ObjectSource::list_each(const std::vector<std::string>& urls) {
  std::vector<ObjectInfo> all;
  // Consecutive literal addresses become parallel requests; a pattern in between keeps the order.
  std::vector<Address> literals;  // consecutive, requested together
  const auto append = [&all](std::vector<ObjectInfo> more) {
    std::move(more.begin(), more.end(), std::back_inserter(all));
  };
  for (const std::string& url : urls) {
    ECHOLINE_ASSIGN(Address address, parse_address(url));
    ECHOLINE_TRY(check_glob(address.path));
    ECHOLINE_TRY(pin(queries(), address));
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

Result<std::vector<ObjectInfo>> ObjectSource::stat_many(const std::vector<Address>& addresses) {
  if (store_->names_max() > 0) return list_names(addresses);
  std::vector<ObjectInfo> infos(addresses.size());
  std::vector<OperationResult> ended;
  std::size_t started = 0;
  Status failure;
  // After a failure nothing new is started, but everything in flight is waited for.
  while (queries().size() > 0 || (started < addresses.size() && failure.ok())) {
    while (failure.ok() && started < addresses.size() && queries().size() < options_.concurrency) {
      queries().start(started, std::make_unique<StatOperation>(*store_, addresses[started]));
      ++started;
    }
    ended.clear();
    queries().step(UINT64_MAX, ended);
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

Result<std::vector<ObjectInfo>> ObjectSource::list_names(const std::vector<Address>& addresses) {
  std::vector<ObjectInfo> infos;
  for (std::size_t first = 0, end = 0; first < addresses.size(); first = end) {
    ListQuery query;
    query.url = addresses[first].url();
    query.bucket = addresses[first].bucket;
    while (end < addresses.size() && addresses[end].bucket == query.bucket &&
           query.names.size() < store_->names_max())
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

Result<ListPage> ObjectSource::list_page(const ListQuery& query) {
  return read_page(queries(), *store_, query, answers_needed(), counters_);
}

Result<std::vector<ObjectInfo>> ObjectSource::list_pattern(const Address& address) {
  std::vector<ObjectInfo> infos;
  ListQuery query = query_of(address);
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
    more = !page.next.empty();
    // A broken store could otherwise cause an endless loop.
    if (more && page.next == query.continuation)
      return Status(Code::kDataLoss, address.url() + ": the store repeats a page of its listing");
    query.continuation = std::move(page.next);
  }
  if (infos.empty()) return nothing_there(address);
  // Stores sort by key, not by address, and some do not sort at all.
  std::sort(infos.begin(), infos.end(),
            [](const ObjectInfo& a, const ObjectInfo& b) { return a.url < b.url; });
  return infos;
}

Status ObjectSource::put(const std::string& url, const std::string& bytes) {
  ECHOLINE_ASSIGN(Address address, parse_address(url));
  return run(queries(), std::make_unique<PutOperation>(*store_, std::move(address), bytes))
      .status();
}

void ObjectSource::submit(ReadRequest request) {
  // The number of reads, not of parts: a long read has several.
  ECHOLINE_CHECK(reads_by_number_.size() + refused_.size() < options_.concurrency);
  Result<Address> address = parse_address(request.object.url);
  const bool is_empty =
      std::all_of(request.segments.begin(), request.segments.end(),
                  [](const Segment& segment) { return segment.destination.empty(); });
  if (!address.ok() || is_empty) {
    refused_.push_back({request.tag, address.status()});
    return;
  }
  const std::uint64_t number = next_read_++;
  Read& read = reads_by_number_[number];
  read.tag = request.tag;
  for (ReadRequest& part : parts_of(request)) {
    const std::uint64_t id = next_id_++;
    read.parts.push_back(id);
    reads_by_part_[id] = number;
    reads_.start(id, std::make_unique<ReadOperation>(*store_, *address, std::move(part), checksums_,
                                                     counters_));
  }
}

// A failed part cancels the others: after the result nothing may write to the destinations.
void ObjectSource::finish_part(OperationResult result, std::vector<ReadResult>& done) {
  const auto part = reads_by_part_.extract(result.id);
  if (part.empty()) return;
  const auto at = reads_by_number_.find(part.mapped());
  std::erase(at->second.parts, result.id);
  if (result.status.ok() && !at->second.parts.empty()) return;
  for (const std::uint64_t other : at->second.parts) {
    reads_.cancel(other);
    reads_by_part_.erase(other);
  }
  // Only a read of one part can have a checksum of the whole object.
  const auto& operation = static_cast<const ReadOperation&>(*result.operation);
  done.push_back(
      {at->second.tag, std::move(result.status), operation.checked(), operation.checksums()});
  reads_by_number_.erase(at);
}

std::size_t ObjectSource::slots_free() const {
  return slots_ - std::min(slots_, reads_.size() + refused_.size());
}

void ObjectSource::poll(std::uint64_t deadline_ns, std::vector<ReadResult>& done) {
  const std::size_t before = done.size();
  std::move(refused_.begin(), refused_.end(), std::back_inserter(done));
  refused_.clear();
  bool woken = false;
  do {
    ended_.clear();
    reads_.step(done.size() > before ? 0 : deadline_ns, ended_);
    for (OperationResult& result : ended_) finish_part(std::move(result), done);
    woken = woken_.exchange(false);
  } while (done.size() == before && !woken && monotonic_ns() < deadline_ns);
  // Constant between two polls, so that the caller can rely on slots_free().
  slots_ = reads_.limit();
}

void ObjectSource::wake() {
  woken_ = true;
  reads_.wake();
}

}  // namespace echoline::source
