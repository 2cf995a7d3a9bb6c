// Opens what an order needs in addition to the seed: the lists of a user (shuffle.order), or the
// buckets of the records (batch.buckets).
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "echoline/v1/config.pb.h"
#include "engine/runtime/memory_budget.h"
#include "plan/buckets.h"
#include "plan/order_lists.h"
#include "record/core/data_set.h"

namespace echoline::engine {

struct OpenedOrder {
  std::shared_ptr<const plan::OrderLists> lists;  // null: the stream has no such order
  std::shared_ptr<const plan::Buckets> buckets;   // null: it has none
  // Of all entries, or of which record is in which bucket, as hexadecimal digits; the form of the
  // files does not count.
  std::string hash;
  MemoryBudget::Reservation memory;
};

// Reads all lists, so later changes of the files have no effect. Blocks. Errors name the file and
// the place in it.
Result<OpenedOrder> open_order(const std::string& name, const v1::Stream& stream,
                               const record::DataSet& data_set, MemoryBudget& budget);

}  // namespace echoline::engine
