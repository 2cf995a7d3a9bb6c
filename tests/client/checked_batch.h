// Checks the values of a batch against the formulas of made_stream.h.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "client/made_stream.h"
#include "echoline/echoline.hpp"

namespace echoline::test {

// The row number of each row of the batch within its epoch, computed from the label. Checks that
// the other fields belong to the same row.
inline std::vector<std::uint64_t> checked_rows(const Batch& batch) {
  const auto labels = batch.tensor<std::int64_t>("label");
  const auto image = batch.tensor<std::uint8_t>("image");
  EXPECT_EQ(labels.size(), batch.rows());
  EXPECT_EQ(image.size(), batch.rows() * kImageBytes);
  std::vector<std::uint64_t> rows;
  for (std::size_t i = 0; i < batch.rows(); ++i) {
    const auto row = static_cast<std::uint64_t>(labels[i] - made_label(batch.epoch(), 0));
    rows.push_back(row);
    EXPECT_EQ(batch.sample_ids()[i], made_sample_id(batch.epoch(), row));
    EXPECT_EQ(batch.uses()[i], made_use(row));
    EXPECT_EQ((batch.row_flags()[i] & 2) != 0, row % 11 == 3);
    EXPECT_EQ((batch.row_flags()[i] & 1) != 0, i >= batch.valid_rows());
    for (std::uint32_t k = 0; k < kImageBytes; ++k) {
      if (image[i * kImageBytes + k] == made_pixel(batch.epoch(), row, k)) continue;
      ADD_FAILURE() << "pixel " << k << " of row " << row;
      break;
    }
  }
  return rows;
}

// The list of rows [begin, end).
inline std::vector<std::uint64_t> rows_between(std::uint64_t begin, std::uint64_t end) {
  std::vector<std::uint64_t> rows;
  for (std::uint64_t row = begin; row < end; ++row) rows.push_back(row);
  return rows;
}

}  // namespace echoline::test
