#include "recipes/affine.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace echoline::recipes {
namespace {

// The matrices are computed as torchvision and Pillow do, to the last bit: between two pixels of
// one value, it decides which value a truncation gives, and a later equalize makes more of it.

constexpr double kDegree = std::numbers::pi / 180.0;

// To 15 decimals, so that a quarter turn is exact. The product needs more than 53 bits.
double rounded(double value) {
  return static_cast<double>(std::nearbyint(static_cast<long double>(value) * 1e15L)) / 1e15;
}

double shear_angle(double tangent) {
  return std::atan(tangent) * (180.0 / std::numbers::pi) * kDegree;
}

// A coordinate with 16 bits after the point, as Pillow has it for the nearest pixel.
std::int64_t fixed(double value) {
  return static_cast<std::int64_t>(std::floor(value * 65536.0 + 0.5));
}

bool within(std::int64_t at, std::uint32_t size) {
  return static_cast<std::uint64_t>(at) < size;  // a negative number becomes a large one
}

template <std::size_t kChannels>
void put(const std::uint8_t* pixel, std::uint8_t* out) {
  for (std::size_t c = 0; c < kChannels; ++c) out[c] = pixel[c];
}

template <std::size_t kChannels>
void transform_nearest(const Pixels& in, const Affine& way, const std::uint8_t* fill,
                       std::uint8_t* out) {
  const std::int64_t a = fixed(way.a), b = fixed(way.b), d = fixed(way.d), e = fixed(way.e);
  std::int64_t row_x = fixed(way.c + way.a * 0.5 + way.b * 0.5);
  std::int64_t row_y = fixed(way.f + way.d * 0.5 + way.e * 0.5);
  for (std::uint32_t y = 0; y < in.size.height; ++y, row_x += b, row_y += e) {
    std::int64_t at_x = row_x;
    std::int64_t at_y = row_y;
    for (std::uint32_t x = 0; x < in.size.width; ++x, at_x += a, at_y += d, out += kChannels) {
      const std::int64_t column = at_x >> 16;
      const std::int64_t row = at_y >> 16;
      const bool inside = within(column, in.size.width) && within(row, in.size.height);
      const std::uint8_t* pixel =
          inside ? in.row(static_cast<std::size_t>(row)) + column * std::int64_t{kChannels} : fill;
      put<kChannels>(pixel, out);
    }
  }
}

// The two neighbours of a coordinate along one side, and the share of the second one. Beyond the
// outermost pixel both are the same.
struct Pair {
  std::uint32_t first;
  std::uint32_t second;
  double share;
};

// `at` is from 0 to below `size`; pixels have their centres at halves.
Pair pair_at(double at, std::uint32_t size) {
  const double centre = at - 0.5;
  if (centre < 0) return {0, 0, centre + 1.0};
  const auto index = static_cast<std::int32_t>(centre);  // floor() would be a call
  const auto first = static_cast<std::uint32_t>(index);
  return {first, std::min(first + 1, size - 1), centre - index};
}

double between(int from, int to, double share) { return from + (to - from) * share; }

// The pixel at (x, y), which is within the picture.
template <std::size_t kChannels>
void put_bilinear(const Pixels& in, double x, double y, std::uint8_t* out) {
  const Pair columns = pair_at(x, in.size.width);
  const Pair rows = pair_at(y, in.size.height);
  const std::uint8_t* upper = in.row(rows.first);
  const std::uint8_t* lower = in.row(rows.second);
  for (std::size_t c = 0; c < kChannels; ++c) {
    const std::size_t left = columns.first * kChannels + c;
    const std::size_t right = columns.second * kChannels + c;
    const double above = between(upper[left], upper[right], columns.share);
    const double below = between(lower[left], lower[right], columns.share);
    out[c] = static_cast<std::uint8_t>(static_cast<int>(above + (below - above) * rows.share));
  }
}

template <std::size_t kChannels>
void transform_bilinear(const Pixels& in, const Affine& way, const std::uint8_t* fill,
                        std::uint8_t* out) {
  for (std::uint32_t row = 0; row < in.size.height; ++row) {
    for (std::uint32_t column = 0; column < in.size.width; ++column, out += kChannels) {
      const double x = way.a * (column + 0.5) + way.b * (row + 0.5) + way.c;
      const double y = way.d * (column + 0.5) + way.e * (row + 0.5) + way.f;
      if (x >= 0 && x < in.size.width && y >= 0 && y < in.size.height) {
        put_bilinear<kChannels>(in, x, y, out);
      } else {
        put<kChannels>(fill, out);
      }
    }
  }
}

template <std::size_t kChannels>
void transform_channels(const Pixels& in, const Affine& affine, const Resampling& resampling,
                        std::uint8_t* out) {
  const std::uint8_t* fill = resampling.fill.data();
  if (resampling.sampling == Sampling::kNearest) {
    transform_nearest<kChannels>(in, affine, fill, out);
  } else {
    transform_bilinear<kChannels>(in, affine, fill, out);
  }
}

}  // namespace

Affine shear_x(double tangent) { return {.b = std::tan(shear_angle(tangent))}; }

Affine shear_y(double tangent) {
  const double angle = shear_angle(tangent);
  return {.d = std::sin(angle) / std::cos(angle)};
}

Affine rotation(double degrees, const ImageSize& size) {
  const double turn = std::fmod(degrees, 360.0);
  const double angle = -(turn < 0 ? turn + 360.0 : turn) * kDegree;
  Affine way{.a = rounded(std::cos(angle)), .b = rounded(std::sin(angle))};
  way.d = rounded(-std::sin(angle));
  way.e = way.a;
  const double x = size.width / 2.0;
  const double y = size.height / 2.0;
  way.c = way.a * -x + way.b * -y + x;
  way.f = way.d * -x + way.e * -y + y;
  return way;
}

Affine inverse(const Affine& way) {
  const double determinant = way.a * way.e - way.b * way.d;
  Affine back{.a = way.e / determinant, .b = -way.b / determinant};
  back.d = -way.d / determinant;
  back.e = way.a / determinant;
  back.c = -(back.a * way.c + back.b * way.f);
  back.f = -(back.d * way.c + back.e * way.f);
  return back;
}

void transform(const Pixels& in, const Affine& affine, const Resampling& resampling,
               std::uint8_t* out) {
  switch (in.channels) {
    case 3:
      return transform_channels<3>(in, affine, resampling, out);
    case 2:
      return transform_channels<2>(in, affine, resampling, out);
    default:
      return transform_channels<1>(in, affine, resampling, out);
  }
}

}  // namespace echoline::recipes
