// Opens an order that a user gives as lists of records (shuffle.order).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "echoline/v1/config.pb.h"
#include "engine/runtime/memory_budget.h"
#include "plan/order_lists.h"

namespace echoline::engine {

struct OpenedOrder {
  std::shared_ptr<const plan::OrderLists> lists;  // null: the stream has no such order
  std::string hash;  // of all entries, as hexadecimal digits; the form of the files does not count
  MemoryBudget::Reservation memory;
};

// Reads all lists, so later changes of the files have no effect. Blocks. Errors name the file and
// the place in it.
Result<OpenedOrder> open_order(const std::string& name, const v1::Stream& stream,
                               std::uint64_t record_count, MemoryBudget& budget);

}  // namespace echoline::engine
