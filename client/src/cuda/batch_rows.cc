#include "cuda/batch_rows.h"

#include "echoline/shm/sample_random.h"

namespace echoline::client::cuda {
namespace {

// The number of the device's pipeline step, which its random draws depend on (semantics.md,
// Randomness): behind all steps of the daemon.
constexpr std::uint8_t kDeviceStep = 255;

}  // namespace

void BatchRows::assign(const Batch& batch) {
  const std::uint32_t rows = batch.rows();
  facts = batch.info();
  sample_ids.assign(batch.sample_ids(), batch.sample_ids() + rows);
  uses.assign(batch.uses(), batch.uses() + rows);
  row_flags.assign(batch.row_flags(), batch.row_flags() + rows);
}

void write_meta(const Batch& batch, const BatchRows& rows, const BatchLayout& layout,
                std::uint32_t uses, std::uint64_t seed, std::byte* meta) {
  for (std::size_t f = 0; f < layout.fields.size(); ++f) {
    echoline_tensor tensor{};
    batch.tensor(batch.attachment().ring().fields()[f], tensor);
    // A field of fixed size.
    if (tensor.offsets == nullptr) continue;
    // In the ring they count from the slot's first row; on the device from the batch's.
    auto* const offsets = reinterpret_cast<std::uint64_t*>(meta + layout.fields[f].offsets);
    for (std::uint32_t row = 0; row <= batch.rows(); ++row) {
      offsets[row] = tensor.offsets[row] - tensor.offsets[0];
    }
  }
  if (!layout.flips_any) return;
  auto* flip = reinterpret_cast<std::uint8_t*>(meta + layout.flips);
  for (std::uint32_t use = 0; use < uses; ++use) {
    for (std::uint32_t row = 0; row < batch.rows(); ++row) {
      // The use as the trainer sees it: those of the stream and of the device counted together.
      const auto total_use = static_cast<std::uint16_t>(rows.uses[row] * uses + use);
      SampleRandom random({seed, rows.sample_ids[row], rows.facts.position.epoch, total_use},
                          kDeviceStep);
      // One random bit: a row is mirrored with a probability of one half.
      flip[use * layout.rows_max + row] = random.next_u32() >> 31 != 0;
    }
  }
}

}  // namespace echoline::client::cuda
