#include "engine/open/open_buckets.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/content_hash.h"
#include "base/log.h"
#include "base/pluralize.h"
#include "config/buckets.h"

namespace echoline::engine {
namespace {

using LengthFunction = std::function<std::uint64_t(std::uint64_t record)>;

Status check_lengths(const v1::Buckets& buckets, const record::DataSet& data_set) {
  if (data_set.index().record_count() > plan::Buckets::kRecordsMax) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} records; at most {} are possible: split the data into several "
                              "streams",
                              data_set.index().record_count(), plan::Buckets::kRecordsMax));
  }
  if (data_set.makes_samples()) {
    return Status(Code::kInvalidArgument,
                  "a data set in Python has no index with the lengths of its records");
  }
  if (buckets.by() != "tokens" || data_set.index().tokens(0) > 0) return {};
  return Status(Code::kInvalidArgument,
                fmt::format("by: tokens needs an index with the number of tokens of each record, "
                            "which format {} does not have here; write 'by: bytes', or use format "
                            "megatron without 'pack'",
                            data_set.format()));
}

std::string hash_of(const plan::Buckets& buckets) {
  ContentHash hash;
  for (std::size_t bucket = 0; bucket < buckets.count(); ++bucket) {
    hash.add_number(buckets.size(bucket));
    for (std::uint64_t place = 0; place < buckets.size(bucket); ++place) {
      hash.add_number(buckets.record(bucket, place));
    }
  }
  return hash.digits();
}

std::string summary(const plan::Buckets& buckets, const LengthFunction& length_of) {
  std::string text;
  std::uint64_t used = 0, padded = 0, longer = 0;
  for (std::size_t bucket = 0; bucket < buckets.count(); ++bucket) {
    const auto [up_to, rows] = buckets.shape(bucket);
    text += fmt::format("{}up to {}: {} in batches of {}", text.empty() ? "" : ", ", up_to,
                        pluralize(buckets.size(bucket), "record"), rows);
    padded += buckets.size(bucket) * up_to;
    for (std::uint64_t place = 0; place < buckets.size(bucket); ++place) {
      const std::uint64_t length = length_of(buckets.record(bucket, place));
      used += std::min(length, up_to);
      longer += length > up_to ? 1 : 0;
    }
  }
  text += fmt::format("; padded to these lengths, {:.1f} % are padding",
                      100.0 * (1 - static_cast<double>(used) / static_cast<double>(padded)));
  if (longer == 0) return text;
  return fmt::format("{}; longer than the last bucket: {}", text, pluralize(longer, "record"));
}

}  // namespace

Result<OpenedOrder> open_buckets(const std::string& name, const v1::Batch& batch,
                                 const record::DataSet& data_set, MemoryBudget& budget) {
  OpenedOrder opened;
  const record::Index& index = data_set.index();
  ECHOLINE_TRY(check_lengths(batch.buckets(), data_set).with_context("batch.buckets"));
  ECHOLINE_ASSIGN(opened.memory, budget.reserve(plan::Buckets::bytes_for(index.record_count()),
                                                "the buckets of stream " + name));
  std::vector<plan::BucketShape> shapes;
  for (const std::uint64_t up_to : batch.buckets().up_to()) {
    shapes.push_back({up_to, config::bucket_rows(batch, up_to)});
  }
  LengthFunction length_of = [&index](std::uint64_t record) { return index.extent(record).bytes; };
  if (batch.buckets().by() == "tokens") {
    length_of = [&index](std::uint64_t record) { return index.tokens(record); };
  }
  opened.buckets =
      std::make_shared<const plan::Buckets>(std::move(shapes), index.record_count(), length_of);
  opened.hash = hash_of(*opened.buckets);
  log_info({"engine", name}, "buckets: {}", summary(*opened.buckets, length_of));
  return opened;
}

}  // namespace echoline::engine
