// Decodes integers that are stored as differences (parquet-format, "Delta Encoding",
// DELTA_BINARY_PACKED).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace echoline::record {

// Single-threaded; never reads outside of the bytes, which must stay valid.
class DeltaDecoder {
 public:
  // Reads the header; false if it is wrong.
  bool begin(std::span<const std::byte> bytes);
  // The number of values, as the header says.
  std::uint64_t count() const { return count_; }
  // Fills all of `out`. False if the bytes end too early or are wrong. Values of 32 bits are the
  // low halves.
  bool decode(std::span<std::int64_t> out);
  // After the last value: the bytes behind it.
  std::span<const std::byte> rest() const { return rest_; }

 private:
  bool begin_block();
  bool begin_miniblock();
  std::uint64_t next_delta();

  std::span<const std::byte> rest_;
  std::uint64_t miniblocks_ = 0;        // in a block
  std::uint64_t miniblock_values_ = 0;  // values of each
  std::uint64_t count_ = 0;
  std::uint64_t made_ = 0;
  std::uint64_t value_ = 0;  // the next one is its sum with a difference; sums wrap
  std::uint64_t delta_min_ = 0;
  std::vector<std::uint8_t> widths_;  // of the miniblocks of the current block
  std::size_t miniblock_ = 0;         // the next one
  std::span<const std::byte> packed_;
  std::uint64_t bit_ = 0;
  std::uint64_t left_ = 0;  // values of the current miniblock
};

}  // namespace echoline::record
