// The halves of a record's number are in two vectors, because most data sets need only the lower.
#include "plan/order_lists.h"

#include <algorithm>
#include <string>
#include <utility>

namespace echoline::plan {
namespace {

// A repeat has a number of 16 bits.
constexpr std::uint32_t kRepeatMax = 65535;
// Of a node of an unordered_map, about.
constexpr std::uint64_t kNodeBytes = 48;

}  // namespace

std::uint64_t OrderLists::bytes_for(std::uint64_t entries, std::uint64_t record_count) {
  const std::uint64_t high = record_count > std::uint64_t{1} << 32 ? sizeof(std::uint16_t) : 0;
  return entries * (sizeof(std::uint32_t) + high + sizeof(std::uint16_t));
}

std::uint64_t OrderLists::bytes() const {
  return low_.capacity() * sizeof(std::uint32_t) +
         (high_.capacity() + repeat_.capacity()) * sizeof(std::uint16_t);
}

std::uint64_t OrderListsBuilder::bytes_for(std::uint64_t longest, std::uint64_t record_count) {
  const std::uint64_t pages = record_count / kPageRecords + 1;
  return pages * sizeof(std::unique_ptr<Page>) + std::min(pages, longest) * sizeof(Page) +
         longest / 2 * kNodeBytes;
}

OrderListsBuilder::OrderListsBuilder(std::uint64_t record_count, std::uint64_t entries)
    : lists_(std::make_shared<OrderLists>()),
      entries_(entries),
      seen_(record_count / kPageRecords + 1) {
  lists_->record_count_ = record_count;
  lists_->low_.reserve(entries);
  if (record_count > std::uint64_t{1} << 32) lists_->high_.reserve(entries);
}

std::uint32_t OrderListsBuilder::count(std::uint64_t record) {
  std::unique_ptr<Page>& page = seen_[record / kPageRecords];
  if (page == nullptr) page = std::make_unique<Page>();
  if (page->test(record % kPageRecords)) return ++repeats_[record];
  page->set(record % kPageRecords);
  return 0;
}

Status OrderListsBuilder::add(std::uint64_t record) {
  OrderLists& lists = *lists_;
  if (record >= lists.record_count_) {
    return Status(Code::kInvalidArgument, "there is no record " + std::to_string(record) +
                                              "; the data set has records 0 to " +
                                              std::to_string(lists.record_count_ - 1));
  }
  const std::uint32_t repeat = count(record);
  if (repeat > kRepeatMax) {
    return Status(Code::kInvalidArgument, "record " + std::to_string(record) +
                                              " is more than 65536 times in one epoch; divide the "
                                              "list into several epochs");
  }
  lists.low_.push_back(static_cast<std::uint32_t>(record));
  if (lists.record_count_ > std::uint64_t{1} << 32) {
    lists.high_.push_back(static_cast<std::uint16_t>(record >> 32));
  }
  if (repeat > 0 && lists.repeat_.empty()) {
    // The first repeat of all: the entries before it have none.
    lists.repeat_.reserve(entries_);
    lists.repeat_.resize(lists.low_.size() - 1);
  }
  if (repeat > 0 || !lists.repeat_.empty()) {
    lists.repeat_.push_back(static_cast<std::uint16_t>(repeat));
  }
  lists.repeat_max_ = std::max(lists.repeat_max_, repeat);
  return {};
}

Status OrderListsBuilder::end_list() {
  const std::uint64_t length = lists_->low_.size() - list_begin_;
  if (length == 0) return Status(Code::kInvalidArgument, "no record in it");
  if (list_begin_ == 0) lists_->length_ = length;
  if (length != lists_->length_) {
    return Status(Code::kInvalidArgument,
                  std::to_string(length) + " records, and the first list has " +
                      std::to_string(lists_->length_) + "; all epochs have the same length");
  }
  list_begin_ += length;
  for (const std::unique_ptr<Page>& page : seen_) {
    if (page != nullptr) page->reset();
  }
  repeats_.clear();
  return {};
}

std::shared_ptr<const OrderLists> OrderListsBuilder::finish() { return std::move(lists_); }

}  // namespace echoline::plan
