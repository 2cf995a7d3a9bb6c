#include "source/core/source.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/crc.h"

namespace echoline::source {

Result<std::vector<ObjectInfo>> Source::list_all(const std::vector<std::string>& urls) {
  std::vector<ObjectInfo> all;
  for (const std::string& url : urls) {
    ECHOLINE_ASSIGN(std::vector<ObjectInfo> listed, list(url));
    std::move(listed.begin(), listed.end(), std::back_inserter(all));
  }
  return all;
}

Result<Answer> read_answer(Source& source, const ObjectInfo& object, std::uint64_t offset,
                           std::uint64_t bytes) {
  // poll() would otherwise return results of other requests.
  ECHOLINE_CHECK(source.counters().in_flight == 0);
  Answer answer{std::vector<std::byte>(bytes)};
  ReadRequest request;
  request.object = object;
  request.segments.push_back({offset, answer.bytes});
  source.submit(std::move(request));
  std::vector<ReadResult> done;
  // The source has time limits of its own, so this ends.
  while (done.empty()) source.poll(UINT64_MAX, done);
  ECHOLINE_TRY(std::move(done[0].status));
  answer.checked = done[0].checked;
  return answer;
}

Result<std::vector<std::byte>> read_range(Source& source, const ObjectInfo& object,
                                          std::uint64_t offset, std::uint64_t bytes) {
  EqualAnswers answers(source.answers_needed());
  while (true) {
    ECHOLINE_ASSIGN(Answer answer, read_answer(source, object, offset, bytes));
    if (answers.take(answer.bytes, answer.checked)) return std::move(answer.bytes);
    // The first answer has nothing to differ from.
    if (answers.differed()) source.count_damaged();
    if (answers.exhausted()) return never_equal(object, offset, bytes);
  }
}

Status never_equal(const ObjectInfo& object, std::uint64_t offset, std::uint64_t bytes) {
  return Status(Code::kDataLoss,
                fmt::format("{}: the {} bytes from {} on were different in each of {} answers: the "
                            "store or the way to it changes them; use https, or set "
                            "read.checksums: none",
                            object.url, bytes, offset, kEqualAnswersMax));
}

bool EqualAnswers::take(std::span<const std::byte> bytes, bool checked) {
  // The store's checksum covered the bytes, or one answer is enough.
  if (checked || needed_ < 2) return true;
  const std::uint32_t found = crc32c(0, bytes);
  // Any two equal answers, not necessarily one after the other.
  if (std::find(seen_.begin(), seen_.end(), found) != seen_.end()) return true;
  seen_.push_back(found);
  return false;
}

}  // namespace echoline::source
