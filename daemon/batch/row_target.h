// Where one row of a batch is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace echoline::batch {

// The destination of one row: the bytes of its fields in a ring slot, and the lengths of ragged
// fields in bytes.
struct RowTarget {
  std::span<const std::span<std::byte>> fields;
  std::span<std::uint64_t> ragged_bytes;  // one per field; only written for ragged ones
  // Called once for a row that is good, when `ragged_bytes` is known, before ragged fields are
  // written: may point their `fields` elsewhere. Empty if not needed.
  std::function<void()> place{};
};

}  // namespace echoline::batch
