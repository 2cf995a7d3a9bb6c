// Checks of settings that several transforms have. Errors (kInvalidArgument) name the setting and
// the values that are allowed.
#pragma once

#include <google/protobuf/repeated_field.h>

#include <array>
#include <cstdint>
#include <string>

#include "augment/draws.h"
#include "augment/resize_weights.h"
#include "base/status.h"
#include "decode/image_reader.h"

namespace echoline::augment {

using decode::ImageSize;

// `size: 224` or `size: [height, width]`, 1 to 65535 each; one number is a square.
Result<ImageSize> size_of(const google::protobuf::RepeatedField<std::uint32_t>& sizes);
Result<Filter> filter_of(const std::string& interpolation);
// Two numbers above 0, the smaller one first; `otherwise` if there are none.
Result<Range> range_of(const google::protobuf::RepeatedField<double>& values, const char* name,
                       const Range& otherwise);
// The same for numbers within limits.
Result<Range> range_within(const google::protobuf::RepeatedField<double>& values, const char* name,
                           const Range& otherwise, const Range& limits);
// kInvalidArgument if it is not from 0 to 1.
Result<double> checked_probability(double probability);
// The setting `probability` of a step; `otherwise` if it is not set.
template <typename Settings>
Result<double> probability_of(const Settings& settings, double otherwise) {
  return checked_probability(settings.has_probability() ? settings.probability() : otherwise);
}
// A value for each channel from one for all, or one for each; 0 if there are none.
Result<std::array<std::uint8_t, 3>> fill_of(
    const google::protobuf::RepeatedField<std::uint32_t>& values, std::uint32_t channels);
// kResourceExhausted for results of more than 100 million pixels.
Status check_pixels(const ImageSize& size);

}  // namespace echoline::augment
