#include "batch/kept_rows.h"

#include <algorithm>
#include <utility>

#include "base/buffer.h"

namespace echoline::batch {

void keep_row(echo::Item& item, const std::vector<decode::FieldType>& types,
              const RowTarget& target) {
  std::vector<Buffer> rows(types.size());
  for (std::size_t field = 0; field < rows.size(); ++field) {
    // Of a ragged row only what it has, not its room.
    rows[field].resize(types[field].ragged ? target.ragged_bytes[field]
                                           : target.fields[field].size());
    std::copy_n(target.fields[field].data(), rows[field].size(), rows[field].data());
  }
  item.keep_rows(std::move(rows), {target.ragged_bytes.begin(), target.ragged_bytes.end()});
}

void copy_row(const echo::Item& item, const RowTarget& target) {
  // For fixed fields nobody reads the length.
  std::copy(item.row_lengths().begin(), item.row_lengths().end(), target.ragged_bytes.begin());
  if (target.place) target.place();
  for (std::size_t field = 0; field < item.rows().size(); ++field) {
    const Buffer& row = item.rows()[field];
    std::copy_n(row.data(), row.size(), target.fields[field].data());
  }
}

}  // namespace echoline::batch
