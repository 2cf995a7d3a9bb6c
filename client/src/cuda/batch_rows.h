// What the host keeps and computes of a batch's rows when the batch is copied to a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/batch_layout.h"
#include "mapped_ring/batch.h"

namespace echoline::client::cuda {

// Copied from the ring, as the trainer may ask for it after the ring's slots were given back. One
// value a row.
struct BatchRows {
  void assign(const Batch& batch);
  std::uint32_t count() const { return static_cast<std::uint32_t>(sample_ids.size()); }

  BatchInfo facts;
  std::vector<std::uint64_t> sample_ids;
  std::vector<std::uint32_t> uses;
  std::vector<std::uint32_t> row_flags;
};

// Writes the layout's first meta_bytes: the offsets of ragged fields and, for each row and use,
// whether it is mirrored. `rows`: of this batch. `uses`: of each batch, by device echo. `seed`: the
// stream's.
void write_meta(const Batch& batch, const BatchRows& rows, const BatchLayout& layout,
                std::uint32_t uses, std::uint64_t seed, std::byte* meta);

}  // namespace echoline::client::cuda
