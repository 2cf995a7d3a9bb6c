// Decodes values that are stored with differences (parquet-format, DELTA_BINARY_PACKED,
// DELTA_LENGTH_BYTE_ARRAY, DELTA_BYTE_ARRAY).
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/status.h"
#include "record/parquet/values.h"

namespace echoline::record {

// Integers of `width` bytes.
Result<std::unique_ptr<ValueDecoder>> make_delta_integers(std::span<const std::byte> values,
                                                          std::size_t width);
// The lengths of all texts, of which there are `values_max` at most, then their bytes.
Result<std::unique_ptr<ValueDecoder>> make_delta_lengths(std::span<const std::byte> values,
                                                         std::size_t values_max);
// How many bytes each text has in common with the one before it, and its other bytes. `width`: of
// each text; 0: they vary.
Result<std::unique_ptr<ValueDecoder>> make_delta_texts(std::span<const std::byte> values,
                                                       std::size_t values_max, std::size_t width);

}  // namespace echoline::record
