// What the rings of a stream look like.
#pragma once

#include <vector>

#include "augment/chain.h"
#include "decode/sample.h"
#include "echoline/v1/config.pb.h"
#include "engine/open/open_order.h"
#include "plan/plan.h"
#include "record/core/data_set.h"
#include "ring/ring.h"

namespace echoline::engine {

// The fingerprint in it is that of the data, the order and all steps of `chain`.
ring::RingSpec ring_spec(const v1::Stream& stream, const plan::Plan& plan,
                         const std::vector<decode::FieldType>& row_types,
                         const record::DataSet& data_set, const augment::Chain& chain,
                         const OpenedOrder& order);

}  // namespace echoline::engine
