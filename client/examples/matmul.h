// One matrix product, blocked so that the sums stay in vector registers.
#pragma once

#include <cstddef>

namespace example {

// A matrix by its strides: element (row, column) is data[row * row_stride + column *
// column_stride], so that a transpose costs nothing.
struct Matrix {
  const float* data;
  std::ptrdiff_t row_stride;
  std::ptrdiff_t column_stride;
};

// sum[rows, columns] += left[rows, inner] * right[inner, columns]; right and sum are row-major and
// dense.
void add_product(const Matrix& left, const float* right, float* sum, int rows, int inner,
                 int columns);

}  // namespace example
