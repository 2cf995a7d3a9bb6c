// From the configuration of one step to its instruction. Errors (kInvalidArgument) name the key and
// what is allowed; `step` is the step's number for its draws.
#pragma once

#include <google/protobuf/repeated_field.h>

#include <cstdint>
#include <memory>
#include <string>

#include "augment/op.h"
#include "base/status.h"

namespace echoline::v1 {
class CenterCrop;
class ColorJitter;
class Cutout;
class HorizontalFlip;
class RandomCrop;
class RandomResizedCrop;
class Resize;
}  // namespace echoline::v1

namespace echoline::augment {

using OpResult = Result<std::unique_ptr<Op>>;

OpResult make_op(const v1::Resize& step, std::uint8_t number);
OpResult make_op(const v1::CenterCrop& step, std::uint8_t number);
OpResult make_op(const v1::RandomResizedCrop& step, std::uint8_t number);
OpResult make_op(const v1::RandomCrop& step, std::uint8_t number);
OpResult make_op(const v1::HorizontalFlip& step, std::uint8_t number);
OpResult make_op(const v1::Cutout& step, std::uint8_t number);
OpResult make_op(const v1::ColorJitter& step, std::uint8_t number);

// `size: 224` or `size: [height, width]`, 1 to 65535 each; one number is a square.
Result<ImageSize> size_of(const google::protobuf::RepeatedField<std::uint32_t>& sizes);
Result<Filter> filter_of(const std::string& interpolation);
// Refuses results of more than 100 million pixels.
Status check_pixels(const ImageSize& size);

}  // namespace echoline::augment
