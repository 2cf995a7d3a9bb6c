// The blocked product: tiles of 4 rows by several vectors; the remaining elements one at a time.
#include "matmul.h"

#include <cstring>

namespace example {
namespace {

// The sums of a tile, one line of the right matrix and one factor use all vector registers.
#if defined(__AVX512F__)
constexpr int kLanes = 16;
constexpr int kTileVectors = 4;
#elif defined(__AVX2__)
constexpr int kLanes = 8;
constexpr int kTileVectors = 2;
#else
constexpr int kLanes = 4;
constexpr int kTileVectors = 2;
#endif
constexpr int kTileRows = 4;
constexpr int kTileColumns = kTileVectors * kLanes;
using Vector = float __attribute__((vector_size(kLanes * sizeof(float))));

Vector load(const float* from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof(vector));
  return vector;
}

void store(float* to, const Vector& vector) { std::memcpy(to, &vector, sizeof(vector)); }

void add_tile(const Matrix& left, const float* right, float* sum, int inner, int columns) {
  Vector total[kTileRows][kTileVectors];
  for (int row = 0; row < kTileRows; ++row) {
    for (int v = 0; v < kTileVectors; ++v) total[row][v] = load(sum + row * columns + v * kLanes);
  }
  for (int i = 0; i < inner; ++i) {
    Vector line[kTileVectors];
    for (int v = 0; v < kTileVectors; ++v) line[v] = load(right + i * columns + v * kLanes);
    for (int row = 0; row < kTileRows; ++row) {
      const float factor = left.data[row * left.row_stride + i * left.column_stride];
      for (int v = 0; v < kTileVectors; ++v) total[row][v] += factor * line[v];
    }
  }
  for (int row = 0; row < kTileRows; ++row) {
    for (int v = 0; v < kTileVectors; ++v) store(sum + row * columns + v * kLanes, total[row][v]);
  }
}

void add_rest(const Matrix& left, const float* right, float* sum, int inner, int columns, int first,
              int row) {
  for (int i = 0; i < inner; ++i) {
    const float factor = left.data[row * left.row_stride + i * left.column_stride];
    for (int column = first; column < columns; ++column) {
      sum[row * columns + column] += factor * right[i * columns + column];
    }
  }
}

}  // namespace

void add_product(const Matrix& left, const float* right, float* sum, int rows, int inner,
                 int columns) {
  const int tiled_columns = columns / kTileColumns * kTileColumns;
  const int tiled_rows = rows / kTileRows * kTileRows;
  for (int column = 0; column < tiled_columns; column += kTileColumns) {
    for (int row = 0; row < tiled_rows; row += kTileRows) {
      const Matrix rows_of_tile{left.data + row * left.row_stride, left.row_stride,
                                left.column_stride};
      add_tile(rows_of_tile, right + column, sum + row * columns + column, inner, columns);
    }
  }
  for (int row = 0; row < rows; ++row) {
    const int first = row < tiled_rows ? tiled_columns : 0;
    add_rest(left, right, sum, inner, columns, first, row);
  }
}

}  // namespace example
