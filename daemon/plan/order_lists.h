// Orders that a user gives as lists of records, one list for each epoch (shuffle.order).
#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/status.h"

namespace echoline::plan {

// An entry of a list: a record, and how many entries before it in this list have the same record.
struct ListEntry {
  std::uint64_t record = 0;
  std::uint32_t repeat = 0;
  std::uint32_t window = 0;  // of the shuffle, as in RowUse
};

// Epoch e has list e modulo the number of lists. All lists have the same length. Immutable; any
// thread may call it. Memory: 4 to 8 bytes for each entry.
class OrderLists {
 public:
  // The most bytes that lists with so many entries in all can take.
  static std::uint64_t bytes_for(std::uint64_t entries, std::uint64_t record_count);

  // The records of the data set that the lists are for.
  std::uint64_t record_count() const { return record_count_; }
  std::uint64_t list_count() const { return low_.size() / length_; }
  std::uint64_t length() const { return length_; }
  std::uint32_t repeat_max() const { return repeat_max_; }
  std::uint64_t bytes() const;

  // `place` is below length().
  ListEntry at(std::uint32_t epoch, std::uint64_t place) const {
    const std::uint64_t entry = epoch % list_count() * length_ + place;
    const std::uint64_t high = high_.empty() ? 0 : high_[entry];
    return {high << 32 | low_[entry], repeat_.empty() ? std::uint16_t{0} : repeat_[entry]};
  }

 private:
  friend class OrderListsBuilder;

  std::uint64_t record_count_ = 0;
  std::uint64_t length_ = 1;
  std::uint32_t repeat_max_ = 0;
  std::vector<std::uint32_t> low_;     // the lower half of each record, list after list
  std::vector<std::uint16_t> high_;    // the bits above; empty while all are 0
  std::vector<std::uint16_t> repeat_;  // empty while no list has a record twice
};

// Makes the lists, entry by entry. One thread.
class OrderListsBuilder {
 public:
  // The most bytes that it takes in addition to the lists, of which the longest has `longest`
  // entries.
  static std::uint64_t bytes_for(std::uint64_t longest, std::uint64_t record_count);

  OrderListsBuilder(std::uint64_t record_count, std::uint64_t entries);

  // kInvalidArgument: there is no such record, or the list has it too often.
  Status add(std::uint64_t record);
  // kInvalidArgument: the list is empty, or not as long as the first one.
  Status end_list();
  // After the last list.
  std::shared_ptr<const OrderLists> finish();

 private:
  static constexpr std::size_t kPageRecords = 65536;
  using Page = std::bitset<kPageRecords>;

  // How many entries of this list have the record so far; counts this one.
  std::uint32_t count(std::uint64_t record);

  std::shared_ptr<OrderLists> lists_;
  std::uint64_t entries_;
  std::uint64_t list_begin_ = 0;
  // Of this list. Most lists have no record twice, so a bit for each record is enough.
  std::vector<std::unique_ptr<Page>> seen_;
  std::unordered_map<std::uint64_t, std::uint32_t> repeats_;  // of records that are there twice
};

}  // namespace echoline::plan
