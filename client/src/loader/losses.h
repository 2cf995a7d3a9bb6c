// Sums the losses of rows by the use of each row's record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "echoline/shm/ring_layout.h"

namespace echoline::client {

// `uses` has one value for each loss. Rows without a finite loss are left out: one of them would
// make the mean of its use unknown from then on.
shm::LossFigures losses_by_use(std::span<const float> losses, const std::uint32_t* uses);
std::size_t rows_of(const shm::LossFigures& losses);

}  // namespace echoline::client
