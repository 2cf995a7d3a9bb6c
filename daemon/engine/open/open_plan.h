// Makes a stream's plan: which record is used when.
#pragma once

#include <memory>

#include "base/status.h"
#include "echoline/v1/config.pb.h"
#include "engine/open/open_order.h"
#include "plan/plan.h"
#include "record/core/data_set.h"

namespace echoline::engine {

plan::EchoPoint echo_point(const v1::Stream& stream);

// Refuses an order that the data set cannot be read in, and an epoch without a batch.
Result<std::unique_ptr<plan::Plan>> open_plan(const v1::Stream& stream,
                                              const record::DataSet& data_set,
                                              const OpenedOrder& order);

// The echo factor or the weights of a mixture.
bool can_change_order(const plan::Plan& plan);

}  // namespace echoline::engine
