// Finished rows that an item keeps, where an echo comes after the augmentations.
#pragma once

#include <vector>

#include "base/mutex.h"
#include "batch/row_target.h"
#include "decode/field.h"
#include "echo/item.h"

namespace echoline::batch {

// Copies the row that was made into the item, if it has room; else it keeps its bytes.
void keep_row(echo::Item& item, const std::vector<decode::FieldType>& types,
              const RowTarget& target) ECHOLINE_REQUIRES(item.mutex);
// Writes the row that the item has kept. It never changes, so no lock is needed.
void copy_row(const echo::Item& item, const RowTarget& target);

}  // namespace echoline::batch
