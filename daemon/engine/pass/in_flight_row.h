// A row of a batch in flight.
#pragma once

#include <cstdint>
#include <memory>

#include "echo/item.h"

namespace echoline::engine {

struct InFlightRow {
  std::uint32_t row = 0;  // of the batch
  std::shared_ptr<echo::Item> item;
  std::uint32_t use = 0;
  bool used_again = false;
  bool is_first = false;          // no earlier row has the item
  std::uint64_t fresh_bytes = 0;  // of its record, if it is the first one
  bool made = false;              // before its turn, together with others
};

}  // namespace echoline::engine
