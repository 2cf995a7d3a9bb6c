// Parsed pages are compared, not bytes: stores may write the same entries differently.
#include "source/store/page_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "source/core/source.h"
#include "source/store/list_operation.h"

namespace echoline::source {
namespace {

// Appends `count` answers, which are requested at once.
Status append_pages(HttpOperations& operations, ObjectStore& store, const ListQuery& query,
                    std::uint32_t count, std::vector<ListPage>& pages) {
  // All at once, so that comparing costs no round trip.
  for (std::uint32_t i = 0; i < count; ++i) {
    operations.start(i, std::make_unique<PageOperation>(store, query));
  }
  std::vector<OperationResult> ended;
  while (operations.size() > 0) operations.step(UINT64_MAX, ended);
  // The first failure counts; retries have happened inside.
  for (OperationResult& result : ended) {
    ECHOLINE_TRY(std::move(result.status));
    pages.push_back(static_cast<PageOperation&>(*result.operation).take_page());
  }
  return {};
}

bool is_same_page(const ListPage& a, const ListPage& b, bool with_continuation) {
  return a.entries == b.entries && a.truncated == b.truncated && a.ambiguous == b.ambiguous &&
         a.next.empty() == b.next.empty() && (!with_continuation || a.next == b.next);
}

}  // namespace

Result<ListPage> read_page(HttpOperations& operations, ObjectStore& store, const ListQuery& query,
                           std::uint32_t answers_needed, SharedCounters& counters) {
  const std::uint32_t needed = std::max(1U, answers_needed);
  std::vector<ListPage> pages;
  while (pages.size() < kEqualAnswersMax) {
    // At first as many as must agree, then one more at a time.
    ECHOLINE_TRY(append_pages(operations, store, query, pages.empty() ? needed : 1, pages));
    if (needed == 1) return std::move(pages.back());
    // Some stores make another continuation for each answer.
    const bool with_continuation = pages.size() <= kAnswersMax;
    // The last page is compared with all before it.
    for (auto other = pages.begin(); other + 1 != pages.end(); ++other) {
      if (is_same_page(*other, pages.back(), with_continuation)) return std::move(pages.back());
    }
    // No two are equal yet.
    SharedCounters::add(counters.damaged, 1);
  }
  return Status(Code::kDataLoss,
                fmt::format("{}: the listing was different in each of {} answers: the store or the "
                            "way to it changes them; use https, or set read.checksums: none",
                            query.url, kEqualAnswersMax));
}

}  // namespace echoline::source
