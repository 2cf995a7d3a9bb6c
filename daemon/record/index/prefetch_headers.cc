// Objects are read in groups. Within a group, as many requests are in flight as the source has
// slots.
#include "record/index/prefetch_headers.h"

#include <algorithm>
#include <utility>

namespace echoline::record {
namespace {

// Bounds the memory of the headers.
constexpr std::size_t kGroup = 256;

// Reads one group. After a failure it still waits for the requests in flight, because they write
// into `heads`.
Status read_group(std::span<const source::ObjectInfo> objects, std::uint64_t bytes,
                  source::Source& source, std::vector<source::Answer>& heads) {
  heads.assign(objects.size(), {});
  std::vector<source::ReadResult> done;
  Status first;
  std::size_t started = 0, ended = 0;
  while (ended < started || (first.ok() && started < objects.size())) {
    while (first.ok() && started < objects.size() && source.slots_free() > 0) {
      heads[started].bytes.resize(std::min(bytes, objects[started].bytes));
      source.submit({started, objects[started], {{0, heads[started].bytes}}});
      ++started;
    }
    done.clear();
    source.poll(UINT64_MAX, done);
    ended += done.size();
    for (source::ReadResult& result : done) {
      heads[result.tag].checked = result.checked;
      // The first failure counts; later ones may follow from it.
      if (result.status.ok() || !first.ok()) continue;
      first = std::move(result.status).with_context(objects[result.tag].url);
    }
  }
  return first;
}

// Reads the group a second time if its source needs two equal answers, and those that differ until
// two are equal.
Status confirm_group(std::span<const source::ObjectInfo> objects, std::uint64_t bytes,
                     source::Source& source, std::vector<source::Answer>& heads) {
  // One answer is enough.
  if (source.answers_needed() < 2) return {};
  std::vector<source::Answer> again;
  ECHOLINE_TRY(read_group(objects, bytes, source, again));
  for (std::size_t i = 0; i < objects.size(); ++i) {
    // Compared byte by byte, because headers are short.
    if (heads[i].checked || heads[i].bytes == again[i].bytes) continue;
    source.count_damaged();
    ECHOLINE_ASSIGN(heads[i].bytes,
                    source::read_range(source, objects[i], 0, heads[i].bytes.size()));
  }
  return {};
}

}  // namespace

Status for_each_header(const std::vector<source::ObjectInfo>& objects, std::uint64_t bytes,
                       source::Source& source,
                       const std::function<Status(std::size_t, std::span<const std::byte>)>& take) {
  std::vector<source::Answer> heads;
  for (std::size_t from = 0; from < objects.size(); from += kGroup) {
    const std::size_t count = std::min(kGroup, objects.size() - from);
    const auto group = std::span(objects).subspan(from, count);
    ECHOLINE_TRY(read_group(group, bytes, source, heads));
    ECHOLINE_TRY(confirm_group(group, bytes, source, heads));
    for (std::size_t i = 0; i < count; ++i) ECHOLINE_TRY(take(from + i, heads[i].bytes));
  }
  return {};
}

}  // namespace echoline::record
