#include "source/core/source.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace echoline::source {

Result<std::vector<ObjectInfo>> Source::list_all(const std::vector<std::string>& urls) {
  std::vector<ObjectInfo> all;
  for (const std::string& url : urls) {
    ECHOLINE_ASSIGN(std::vector<ObjectInfo> listed, list(url));
    std::move(listed.begin(), listed.end(), std::back_inserter(all));
  }
  return all;
}

Result<std::vector<std::byte>> read_range(Source& source, const ObjectInfo& object,
                                          std::uint64_t offset, std::uint64_t bytes) {
  // poll() would otherwise return results of other requests.
  ECHOLINE_CHECK(source.counters().in_flight == 0);
  std::vector<std::byte> data(bytes);
  ReadRequest request;
  request.object = object;
  request.segments.push_back({offset, data});
  source.submit(std::move(request));
  std::vector<ReadResult> done;
  while (done.empty()) source.poll(UINT64_MAX, done);
  ECHOLINE_TRY(std::move(done[0].status));
  return data;
}

}  // namespace echoline::source
