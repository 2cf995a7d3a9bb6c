// The step pad: a ragged field gets one length.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "augment/sample_fields.h"
#include "augment/transforms.h"
#include "decode/object_runs.h"
#include "decode/relations.h"

namespace echoline::augment {
namespace {

using ElementBytes = std::array<std::byte, 8>;

// `value` as an element of the type T; an error if T does not have it.
template <typename T>
Result<ElementBytes> as_element(double value) {
  bool fits = true;
  if constexpr (std::is_integral_v<T>) {
    // The largest value itself may be no double; one more is a power of two.
    const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
    fits = value == std::floor(value) && value < end &&
           value >= static_cast<double>(std::numeric_limits<T>::min());
  }
  if (!fits) {
    return Status(Code::kInvalidArgument,
                  fmt::format("value {} is no value of the field's type", value));
  }
  ElementBytes bytes{};
  const T element = static_cast<T>(value);
  std::memcpy(bytes.data(), &element, sizeof element);
  return bytes;
}

Result<ElementBytes> element_of(shm::DType dtype, double value) {
  switch (dtype) {
    case shm::kUint8:
      return as_element<std::uint8_t>(value);
    case shm::kInt8:
      return as_element<std::int8_t>(value);
    case shm::kUint16:
      return as_element<std::uint16_t>(value);
    case shm::kInt16:
      return as_element<std::int16_t>(value);
    case shm::kUint32:
      return as_element<std::uint32_t>(value);
    case shm::kInt32:
      return as_element<std::int32_t>(value);
    case shm::kUint64:
      return as_element<std::uint64_t>(value);
    case shm::kInt64:
      return as_element<std::int64_t>(value);
    case shm::kFloat32:
      return as_element<float>(value);
    case shm::kFloat64:
      return as_element<double>(value);
    default:
      return Status(Code::kInvalidArgument,
                    fmt::format("{} fields cannot be padded", shm::dtype_name(dtype)));
  }
}

class PadStep final : public SampleStep {
 public:
  PadStep(std::vector<decode::FieldType> outputs, std::size_t field, bool has_objects,
          const v1::Pad& settings, const ElementBytes& value)
      : outputs_(std::move(outputs)),
        field_(field),
        has_objects_(has_objects),
        settings_(settings),
        length_(settings.length()),
        value_(value) {}

  const std::vector<decode::FieldType>& outputs() const override { return outputs_; }
  std::unique_ptr<Scratch> make_scratch() const override { return std::make_unique<Objects>(); }

  Status run(const decode::Sample& in, const UseKey&, Scratch* scratch,
             decode::Sample& out) const override {
    const decode::Tensor& from = in.tensors[field_];
    Objects& objects = *static_cast<Objects*>(scratch);
    if (has_objects_) ECHOLINE_TRY(objects.load(outputs_[field_], from));
    const std::uint64_t present = has_objects_ ? objects.masks.objects : from.shape.sizes[0];
    if (present > length_ && settings_.longer() != "cut") {
      return {Code::kInvalidArgument,
              fmt::format("field {} has {} elements, more than length {}; 'longer: cut' keeps the "
                          "first ones",
                          settings_.field(), present, length_)};
    }
    borrow_all(in, out, outputs_.size());
    const std::uint64_t kept = std::min(present, length_);
    if (has_objects_) {
      objects.masks.keep_first(static_cast<std::uint32_t>(kept));
      pad(objects.masks, out.tensors[field_]);
    } else {
      pad(from, kept, out.tensors[field_]);
    }
    if (!settings_.lengths().empty()) write_length(out.tensors.back(), kept);
    return {};
  }

 private:
  struct Objects final : Scratch {
    Status load(const decode::FieldType& type, const decode::Tensor& from) {
      ECHOLINE_TRY(decode::load(from, masks));
      return decode::check_objects_size(masks.size, {type.shape.sizes[1], type.shape.sizes[2]});
    }

    decode::ObjectRuns masks;
  };

  // Draws the masks. Not before their number is checked: the record decides about it.
  void pad(const decode::ObjectRuns& masks, decode::Tensor& to) const {
    std::byte* const out = make_room(to, shm::kUint8, outputs_[field_].shape);
    draw(masks, out);
    const std::size_t drawn = masks.bytes_drawn();
    if (drawn < to.bytes.size()) {
      std::memset(out + drawn, std::to_integer<int>(value_[0]), to.bytes.size() - drawn);
    }
  }

  void pad(const decode::Tensor& from, std::uint64_t kept, decode::Tensor& to) const {
    const std::size_t bytes_each = shm::dtype_bytes(from.dtype);
    const std::size_t kept_bytes = kept * outputs_[field_].inner_bytes();
    std::byte* const out = make_room(to, from.dtype, outputs_[field_].shape);
    if (kept > 0) std::memcpy(out, from.content().data(), kept_bytes);
    for (std::size_t at = kept_bytes; at < to.bytes.size(); at += bytes_each) {
      std::memcpy(out + at, value_.data(), bytes_each);
    }
  }

  const std::vector<decode::FieldType> outputs_;
  const std::size_t field_;
  const bool has_objects_;  // it has masks of objects
  const v1::Pad settings_;
  const std::uint64_t length_;
  const ElementBytes value_;
};

Result<std::unique_ptr<SampleStep>> make_pad(const v1::Step& step, std::uint8_t,
                                             const std::vector<decode::FieldType>& inputs) {
  const v1::Pad& settings = step.pad();
  ECHOLINE_ASSIGN(const std::size_t field, find_field(inputs, settings.field()));
  if (!inputs[field].ragged) {
    return Status(Code::kInvalidArgument,
                  fmt::format("field {} has one shape already; pad is for fields whose rows have "
                              "different lengths",
                              settings.field()));
  }
  std::vector<decode::FieldType> outputs = inputs;
  decode::FieldType& type = outputs[field];
  const bool has_objects = type.objects_max > 0;
  if (has_objects && type.objects_size.pixels() == 0) {
    return Status(Code::kInvalidArgument,
                  fmt::format("field {} has masks of any height and width here; put a crop, "
                              "letterbox, or a resize to [height, width] before this step",
                              settings.field()));
  }
  if (has_objects) decode::make_drawn(type);
  ECHOLINE_ASSIGN(const ElementBytes value, element_of(type.dtype, settings.value()));
  type.ragged = false;
  type.fixed = true;
  type.shape.sizes[0] = static_cast<std::uint32_t>(settings.length());
  ECHOLINE_TRY(add_lengths(outputs, settings.lengths()));
  return std::unique_ptr<SampleStep>(
      new PadStep(std::move(outputs), field, has_objects, settings, value));
}

}  // namespace

const Transform kPad{.step = v1::Step::kPad, .make = make_pad, .is_pure = true};

}  // namespace echoline::augment
