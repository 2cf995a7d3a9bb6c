// The files are read twice: the first time only counts, so that the memory is reserved before it is
// used.
#include "engine/open/open_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/content_hash.h"
#include "base/log.h"
#include "base/pluralize.h"
#include "config/pipeline.h"
#include "engine/open/open_buckets.h"
#include "engine/open/order_file.h"
#include "engine/open/order_files.h"

namespace echoline::engine {
namespace {

struct Counts {
  std::uint64_t entries = 0;
  std::uint64_t longest = 0;  // of the lists
};

Result<Counts> count_entries(const std::vector<std::string>& files) {
  Counts counts;
  for (const std::string& file : files) {
    std::uint64_t length = 0;
    ECHOLINE_TRY(for_each_id(file, [&length](std::uint64_t) {
      ++length;
      return Status();
    }));
    counts.entries += length;
    counts.longest = std::max(counts.longest, length);
  }
  return counts;
}

// The hash of the lists is that of their entries, and of where each list ends.
Status read_lists(const std::vector<std::string>& files, std::uint64_t entries,
                  plan::OrderListsBuilder& builder, ContentHash& hash) {
  std::uint64_t left = entries;
  // The hash is that of the entries, and of where each list ends.
  const Status changed(Code::kFailedPrecondition, "changed while it was read; start again");
  for (const std::string& file : files) {
    const std::uint64_t before = left;
    ECHOLINE_TRY(for_each_id(file, [&](std::uint64_t record) -> Status {
      if (left == 0) return changed;
      --left;
      hash.add_number(record);
      return builder.add(record);
    }));
    ECHOLINE_TRY(builder.end_list().with_context(file));
    hash.add_number(before - left);
  }
  return left == 0 ? Status() : Status(changed).with_context(files.back());
}

Result<OpenedOrder> read_order(const std::string& name, const std::string& order,
                               std::uint64_t record_count, MemoryBudget& budget) {
  ECHOLINE_ASSIGN(const std::vector<std::string> files, order_files(order));
  ECHOLINE_ASSIGN(const Counts counts, count_entries(files));
  OpenedOrder opened;
  ECHOLINE_ASSIGN(
      opened.memory,
      budget.reserve(plan::OrderLists::bytes_for(counts.entries, record_count) +
                         plan::OrderListsBuilder::bytes_for(counts.longest, record_count),
                     "the order of stream " + name));
  plan::OrderListsBuilder builder(record_count, counts.entries);
  ContentHash hash;
  ECHOLINE_TRY(read_lists(files, counts.entries, builder, hash));
  opened.lists = builder.finish();
  opened.hash = hash.digits();
  opened.memory.keep(opened.lists->bytes());
  log_info({"engine", name}, "order: {} of {}", pluralize(files.size(), "list"),
           pluralize(opened.lists->length(), "record"));
  return opened;
}

}  // namespace

Result<OpenedOrder> open_order(const std::string& name, const v1::Stream& stream,
                               const record::DataSet& data_set, MemoryBudget& budget) {
  const v1::Batch& batch = config::batch_step(stream);
  if (batch.has_buckets()) return open_buckets(name, batch, data_set, budget);
  const v1::Shuffle* const shuffle = config::shuffle_step(stream);
  if (shuffle == nullptr || shuffle->order().empty()) return OpenedOrder{};
  Result<OpenedOrder> opened =
      read_order(name, shuffle->order(), data_set.index().record_count(), budget);
  if (opened.ok()) return opened;
  return std::move(opened).status().with_context("shuffle.order");
}

}  // namespace echoline::engine
