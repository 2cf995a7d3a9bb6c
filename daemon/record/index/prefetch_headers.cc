// Objects are read in groups. Within a group, as many requests are in flight as the source has
// slots.
#include "record/index/prefetch_headers.h"

#include <algorithm>
#include <utility>

namespace echoline::record {
namespace {

constexpr std::size_t kGroup = 256;

// Reads one group. After a failure it still waits for the requests in flight, because they write
// into `heads`.
Status read_group(std::span<const source::ObjectInfo> objects, std::uint64_t bytes,
                  source::Source& source, std::vector<std::vector<std::byte>>& heads) {
  heads.assign(objects.size(), {});
  std::vector<source::ReadResult> done;
  Status first;
  std::size_t started = 0, ended = 0;
  while (ended < started || (first.ok() && started < objects.size())) {
    while (first.ok() && started < objects.size() && source.slots_free() > 0) {
      heads[started].resize(std::min(bytes, objects[started].bytes));
      source.submit({started, objects[started], {{0, heads[started]}}});
      ++started;
    }
    done.clear();
    source.poll(UINT64_MAX, done);
    ended += done.size();
    for (source::ReadResult& result : done) {
      if (result.status.ok() || !first.ok()) continue;
      first = std::move(result.status).with_context(objects[result.tag].url);
    }
  }
  return first;
}

}  // namespace

Status for_each_header(const std::vector<source::ObjectInfo>& objects, std::uint64_t bytes,
                       source::Source& source,
                       const std::function<Status(std::size_t, std::span<const std::byte>)>& take) {
  std::vector<std::vector<std::byte>> heads;
  for (std::size_t from = 0; from < objects.size(); from += kGroup) {
    const std::size_t count = std::min(kGroup, objects.size() - from);
    ECHOLINE_TRY(read_group(std::span(objects).subspan(from, count), bytes, source, heads));
    for (std::size_t i = 0; i < count; ++i) ECHOLINE_TRY(take(from + i, heads[i]));
  }
  return {};
}

}  // namespace echoline::record
