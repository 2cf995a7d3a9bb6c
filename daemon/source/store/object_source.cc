// Reads use one set of connections with the configured concurrency, listings and writes another.
#include "source/store/object_source.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/check.h"
#include "base/clock.h"
#include "source/store/object_listing.h"
#include "source/store/put_operation.h"
#include "source/store/read_operation.h"
#include "source/store/run_operation.h"

namespace echoline::source {
namespace {

// A wrong setting should be an error within seconds.
constexpr std::uint32_t kProbeAttemptsMax = 4;
// One connection transfers this in a fraction of a second.
constexpr std::uint64_t kPartBytes = kSplitReadBytes / 2;

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
  return ObjectListing(*store_, operations, {.answers_needed = answers_needed()}, unseen)
      .probe(urls);
}

Result<std::vector<ObjectInfo>> ObjectSource::list(const std::string& url) {
  return list_all({url});
}

Result<std::vector<ObjectInfo>> ObjectSource::list_all(const std::vector<std::string>& urls) {
  auto listed =
      ObjectListing(*store_, queries(),
                    {.concurrency = options_.concurrency, .answers_needed = answers_needed()},
                    counters_)
          .list(urls);
  queries_.reset();  // frees its connections and its share of the endpoint's limit
  return listed;
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
