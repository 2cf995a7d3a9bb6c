#include "loader/losses.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace echoline::client {

shm::LossFigures losses_by_use(std::span<const float> losses, const std::uint32_t* uses) {
  shm::LossFigures figures{};
  for (std::size_t row = 0; row < losses.size(); ++row) {
    if (!std::isfinite(losses[row])) continue;
    const std::size_t use = std::min<std::size_t>(uses[row], shm::kLossUses - 1);
    ++figures.rows[use];
    figures.sums[use] += losses[row];
  }
  return figures;
}

std::size_t rows_of(const shm::LossFigures& losses) {
  return std::accumulate(std::begin(losses.rows), std::end(losses.rows), std::size_t{0});
}

}  // namespace echoline::client
