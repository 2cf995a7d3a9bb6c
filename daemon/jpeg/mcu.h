// Decodes the blocks of MCUs: ITU-T T.81, F.2.2 (Huffman decoding of DC and AC coefficients).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "jpeg/bit_reader.h"
#include "jpeg/huffman_table.h"
#include "jpeg/markers.h"

namespace echoline::jpeg {

inline constexpr std::size_t kMcuBlocksMax = 6;
inline constexpr std::size_t kBatchMcus = 8;  // MCUs that are decoded before their samples are made
// Values from block to block. Those behind the 64 coefficients are written by damaged data.
inline constexpr std::size_t kBlockStride = 72;

// One block of an MCU.
struct McuBlock {
  const DcTable* dc = nullptr;
  const AcTable* ac = nullptr;
  bool dc_only = false;  // of no AC coefficient is there any need
  std::uint8_t component = 0;
  std::uint8_t first = 0;  // its place in a batch: first + blocks_per_mcu * (number of the MCU)
  std::uint8_t blocks_per_mcu = 0;  // of its component
};

struct McuPlan {
  std::array<McuBlock, kMcuBlocksMax> blocks;
  std::size_t count = 0;
};

// Where the decoder is in an interval.
struct EntropyState {
  BitReader bits;
  std::array<std::int32_t, kComponentsMax> dc{};  // predictions (F.1.1.5.1)
  const std::uint8_t* end = nullptr;              // of the interval's bytes

  bool within() const { return bits.unused() <= end; }
};

// Coefficients of some MCUs, in natural order; not dequantized.
struct Batch {
  static constexpr std::size_t kBlocks = kBatchMcus * kMcuBlocksMax;

  alignas(64) std::array<std::int16_t, kBlocks * kBlockStride> values;
  // A block has an AC coefficient.
  std::array<std::uint8_t, kBlocks> ac;

  std::int16_t* block(std::size_t index) { return values.data() + index * kBlockStride; }
  const std::int16_t* block(std::size_t index) const {
    return values.data() + index * kBlockStride;
  }
};

// Decodes `count` MCUs to the places `first`, first + 1, ... of the batch. False at the first
// anomaly: a code that is not allowed, a run beyond the block, data beyond the interval.
bool decode_mcus(const McuPlan& plan, EntropyState& state, std::size_t first, std::size_t count,
                 Batch& batch);

// Decodes `count` MCUs, at least one, from each of two places, to the first places of two batches:
// all coefficients.
bool decode_two_mcus(const McuPlan& plan, std::array<EntropyState*, 2> states, std::size_t count,
                     std::array<Batch, 2>& batches);

// As decode_mcus, but keeps nothing except the predictions.
bool skip_mcus(const McuPlan& plan, EntropyState& state, std::size_t count);

}  // namespace echoline::jpeg
