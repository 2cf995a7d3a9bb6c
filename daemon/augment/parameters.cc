#include "augment/parameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace echoline::augment {
namespace {

constexpr std::uint32_t kSideMax = 65535;
constexpr std::uint64_t kPixelsMax = 100'000'000;

}  // namespace

Result<ImageSize> size_of(const google::protobuf::RepeatedField<std::uint32_t>& sizes) {
  if (sizes.size() != 1 && sizes.size() != 2) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("size has {} numbers; one, or [height, width], is allowed", sizes.size()));
  }
  for (const std::uint32_t side : sizes) {
    if (side < 1 || side > kSideMax) {
      return Status(Code::kInvalidArgument,
                    fmt::format("size has {}; 1 to {} is allowed", side, kSideMax));
    }
  }
  const ImageSize size{sizes[0], sizes[sizes.size() - 1]};
  ECHOLINE_TRY(check_pixels(size));
  return size;
}

Result<Filter> filter_of(const std::string& interpolation) {
  if (interpolation.empty() || interpolation == "bilinear") return Filter::kBilinear;
  if (interpolation == "bicubic") return Filter::kBicubic;
  return Status(
      Code::kInvalidArgument,
      fmt::format("interpolation is \"{}\"; allowed are bilinear, bicubic", interpolation));
}

Result<Range> range_of(const google::protobuf::RepeatedField<double>& values, const char* name,
                       const Range& otherwise) {
  if (values.empty()) return otherwise;
  if (values.size() == 2 && values[0] > 0 && values[0] <= values[1] && values[1] < 1e6) {
    return Range{values[0], values[1]};
  }
  return Status(Code::kInvalidArgument,
                fmt::format("{} is [{}]; two numbers above 0 are allowed, the smaller one first",
                            name, fmt::join(values, ", ")));
}

Result<Range> range_within(const google::protobuf::RepeatedField<double>& values, const char* name,
                           const Range& otherwise, const Range& limits) {
  if (values.empty()) return otherwise;
  if (values.size() == 2 && values[0] >= limits[0] && values[0] <= values[1] &&
      values[1] <= limits[1]) {
    return Range{values[0], values[1]};
  }
  return Status(Code::kInvalidArgument,
                fmt::format("{} is [{}]; two numbers from {} to {} are allowed, the smaller one "
                            "first",
                            name, fmt::join(values, ", "), limits[0], limits[1]));
}

Result<double> checked_probability(double probability) {
  // Written so that NaN is refused, too.
  if (probability >= 0 && probability <= 1) return probability;
  return Status(Code::kInvalidArgument,
                fmt::format("probability is {}; 0 to 1 is allowed", probability));
}

Result<std::array<std::uint8_t, 3>> fill_of(
    const google::protobuf::RepeatedField<std::uint32_t>& values, std::uint32_t channels) {
  const auto count = static_cast<std::uint32_t>(values.size());
  if (count > 1 && count != channels) {
    return Status(Code::kInvalidArgument,
                  fmt::format("fill has {} values; one, or {}, one for each channel, is allowed",
                              count, channels));
  }
  std::array<std::uint8_t, 3> fill{};
  for (std::uint32_t i = 0; i < channels && count > 0; ++i) {
    const std::uint32_t value = values[static_cast<int>(count == 1 ? 0 : i)];
    if (value > 255) {
      return Status(Code::kInvalidArgument, fmt::format("fill has {}; 0 to 255 is allowed", value));
    }
    fill[i] = static_cast<std::uint8_t>(value);
  }
  return fill;
}

Status check_pixels(const ImageSize& size) {
  if (size.pixels() <= kPixelsMax) return {};
  return {Code::kResourceExhausted,
          fmt::format("the result has {} x {} pixels; at most {} are allowed", size.height,
                      size.width, kPixelsMax)};
}

}  // namespace echoline::augment
