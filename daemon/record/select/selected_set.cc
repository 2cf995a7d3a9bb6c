#include "record/select/selected_set.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "echoline/v1/config.pb.h"
#include "record/select/selected_index.h"

namespace echoline::record {
namespace {

double end_of(const v1::Split& split) { return split.has_to() ? split.to() : 1; }

// A completed configuration has a split in every stream, which may be the whole.
bool is_split(const v1::Read& read) {
  return read.has_split() && (read.split().from() > 0 || end_of(read.split()) < 1);
}

// The hashes of a part: from `from` on, and before `to` where there is a `to`.
class HashRange {
 public:
  explicit HashRange(const v1::Split& split)
      : from_(bound(split.from())), to_(bound(end_of(split))), all_above_(end_of(split) >= 1) {}

  bool contains(std::uint64_t hash) const { return hash >= from_ && (all_above_ || hash < to_); }

 private:
  // 1 has no bound of 64 bits; the configuration refuses it for `from`.
  static std::uint64_t bound(double fraction) {
    return fraction >= 1 ? std::numeric_limits<std::uint64_t>::max()
                         : static_cast<std::uint64_t>(std::ldexp(fraction, 64));
  }

  const std::uint64_t from_;
  const std::uint64_t to_;
  const bool all_above_;
};

std::vector<std::uint32_t> chosen_records(const v1::Read& read, const Index& index) {
  const bool split = is_split(read);
  const HashRange part(read.split());
  const std::uint64_t limit =
      read.has_limit() ? read.limit() : std::numeric_limits<std::uint64_t>::max();
  std::vector<std::uint32_t> chosen;
  for (std::uint64_t record = 0; record < index.record_count() && chosen.size() < limit; ++record) {
    if (split) {
      const std::string key = index.key(record);
      const std::uint64_t hash = XXH3_64bits_withSeed(key.data(), key.size(), read.split().seed());
      if (!part.contains(hash)) continue;
    }
    chosen.push_back(static_cast<std::uint32_t>(record));
  }
  return chosen;
}

class SelectedDataSet final : public DataSet {
 public:
  SelectedDataSet(std::unique_ptr<DataSet> whole, std::vector<std::uint32_t> records,
                  std::string selection)
      : whole_(std::move(whole)),
        index_(whole_->index(), std::move(records)),
        selection_(std::move(selection)) {}

  const Index& index() const override { return index_; }
  std::string_view format() const override { return whole_->format(); }
  Status cut(std::uint64_t record, std::span<const std::byte> bytes,
             Fields& fields) const override {
    return whole_->cut(index_.whole_record(record), bytes, fields);
  }
  Status check_field(std::string_view key, std::string_view as) const override {
    return whole_->check_field(key, as);
  }
  std::string metadata_text() const override { return whole_->metadata_text() + selection_; }
  bool makes_samples() const override { return whole_->makes_samples(); }
  bool random_access() const override { return whole_->random_access(); }
  // The index of all records: it serves every selection.
  Result<std::uint64_t> publish(source::Source& source) const override {
    return whole_->publish(source);
  }
  std::unique_ptr<source::Source> reading(std::unique_ptr<source::Source> source) const override {
    return whole_->reading(std::move(source));
  }

 private:
  const std::unique_ptr<DataSet> whole_;
  const SelectedIndex index_;
  const std::string selection_;
};

}  // namespace

bool selects_records(const v1::Read& read) { return is_split(read) || read.has_limit(); }

Result<std::unique_ptr<DataSet>> select_records(const v1::Read& read,
                                                std::unique_ptr<DataSet> whole) {
  const std::uint64_t count = whole->index().record_count();
  if (count > std::numeric_limits<std::uint32_t>::max()) {
    return Status(Code::kResourceExhausted,
                  fmt::format("read.split and read.limit work with at most {} records; there are "
                              "{}",
                              std::numeric_limits<std::uint32_t>::max(), count));
  }
  std::vector<std::uint32_t> records = chosen_records(read, whole->index());
  if (records.empty() && count > 0) {
    return Status(Code::kNotFound,
                  fmt::format("read.split: none of the {} records has a key whose hash is in this "
                              "part; make it larger",
                              count));
  }
  std::string selection = "\nselected";
  if (is_split(read)) {
    selection += fmt::format(" {} to {} seed {}", read.split().from(), end_of(read.split()),
                             read.split().seed());
  }
  if (read.has_limit()) selection += fmt::format(" limit {}", read.limit());
  return std::unique_ptr<DataSet>(
      new SelectedDataSet(std::move(whole), std::move(records), std::move(selection)));
}

}  // namespace echoline::record
