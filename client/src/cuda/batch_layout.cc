#include "cuda/batch_layout.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "echoline/shm/dtype.h"

namespace echoline::client::cuda {
namespace {

// cuMemAlloc's own alignment, and more than any load of the kernels needs.
constexpr std::size_t kAlignment = 256;

Error refused(const std::string& field, const std::string& why) {
  return {ECHOLINE_INVALID_ARGUMENT, "field '" + field + "': " + why};
}

bool is_float(std::uint32_t dtype) {
  return dtype == ECHOLINE_FLOAT32 || dtype == ECHOLINE_FLOAT16 || dtype == ECHOLINE_BFLOAT16;
}

Error use_picture(const Field& field, FieldPlan& plan) {
  if (field.ragged || field.sizes.size() != 3) {
    return refused(field.name,
                   "only rows of [height, width, channels] can be normalised or flipped");
  }
  plan.height = field.sizes[0];
  plan.width = field.sizes[1];
  plan.channels = field.sizes[2];
  return {};
}

Error use_normalize(const Field& field, const FieldOptions& wish, FieldPlan& plan) {
  if (Error e = use_picture(field, plan); !e.ok()) return e;
  if (!is_float(wish.dtype)) {
    return refused(field.name, "dtype must be float32, float16, bfloat16 or the stream's");
  }
  if (field.dtype != ECHOLINE_UINT8 || plan.channels > kChannelsMax) {
    return refused(field.name, "only uint8 pixels of up to " + std::to_string(kChannelsMax) +
                                   " channels can be normalised");
  }
  plan.transform = Transform::kNormalize;
  plan.dtype = wish.dtype;
  plan.channels_first = wish.layout == ECHOLINE_LAYOUT_CHW;
  if (plan.channels_first) plan.sizes = {plan.channels, plan.height, plan.width};
  for (std::uint32_t c = 0; c < plan.channels; ++c) {
    const float deviation = wish.std[c] == 0 ? 1.0F : wish.std[c];
    plan.scale[c] = 1.0F / (255.0F * deviation);
    plan.shift[c] = -wish.mean[c] / deviation;
  }
  return {};
}

// To nearest even, as every conversion here.
std::uint16_t half_bits(double value) {
  const double size = std::abs(value);
  const int sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return 0x7E00;
  if (size >= 65520) return static_cast<std::uint16_t>(sign | 0x7C00);
  if (size < 0x1p-14) return static_cast<std::uint16_t>(sign | std::lrint(size * 0x1p24));
  const int exponent = std::ilogb(size);
  const long mantissa = std::lrint(std::ldexp(size, 10 - exponent));  // with its leading one
  return static_cast<std::uint16_t>(sign | ((exponent + 14) * 1024 + mantissa));
}

std::uint16_t bfloat_bits(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

// The bits of `value` as an element, by conversion of C++.
std::uint64_t element_bits(std::uint32_t dtype, double value) {
  switch (dtype) {
    case ECHOLINE_FLOAT64:
      return std::bit_cast<std::uint64_t>(value);
    case ECHOLINE_FLOAT32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case ECHOLINE_FLOAT16:
      return half_bits(value);
    case ECHOLINE_BFLOAT16:
      return bfloat_bits(value);
    case ECHOLINE_UINT64:
      return static_cast<std::uint64_t>(value);
    default:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  }
}

template <typename T>
bool holds(double value) {
  return value == std::trunc(value) &&
         value >= static_cast<double>(std::numeric_limits<T>::min()) &&
         value < std::ldexp(1.0, std::numeric_limits<T>::digits);
}

// Whether an element can be that number; floats of any type can.
bool fits(std::uint32_t dtype, double value) {
  switch (dtype) {
    case ECHOLINE_UINT8:
      return holds<std::uint8_t>(value);
    case ECHOLINE_INT8:
      return holds<std::int8_t>(value);
    case ECHOLINE_UINT16:
      return holds<std::uint16_t>(value);
    case ECHOLINE_INT16:
      return holds<std::int16_t>(value);
    case ECHOLINE_UINT32:
      return holds<std::uint32_t>(value);
    case ECHOLINE_INT32:
      return holds<std::int32_t>(value);
    case ECHOLINE_UINT64:
      return holds<std::uint64_t>(value);
    case ECHOLINE_INT64:
      return holds<std::int64_t>(value);
    default:
      return true;
  }
}

Error use_pad(const Field& field, const FieldOptions& wish, FieldPlan& plan) {
  if (!field.ragged) return refused(field.name, "only a ragged field can be padded");
  if (!fits(field.dtype, wish.fill)) {
    return refused(field.name, "the fill " + std::to_string(wish.fill) + " is no " +
                                   std::string(shm::dtype_name(field.dtype)));
  }
  plan.transform = Transform::kPad;
  plan.ragged = false;
  plan.sizes.assign(field.sizes.begin(), field.sizes.end());
  plan.fill = element_bits(field.dtype, wish.fill);
  return {};
}

Error use_wish(const Field& field, const FieldOptions& wish, FieldPlan& plan) {
  const bool converts = wish.dtype != 0 && wish.dtype != field.dtype;
  if (wish.layout > ECHOLINE_LAYOUT_HWC) return refused(field.name, "no such layout");
  if (wish.padded) {
    if (converts || wish.flip)
      return refused(field.name, "padded fields keep their type and order");
    return use_pad(field, wish, plan);
  }
  plan.flip = wish.flip;
  if (converts) return use_normalize(field, wish, plan);
  if (wish.layout == ECHOLINE_LAYOUT_CHW) {
    return refused(field.name, "channels come first only together with a dtype of float");
  }
  if (!wish.flip) return {};
  plan.transform = Transform::kFlip;
  return use_picture(field, plan);
}

FieldPlan as_it_is(const Field& field) {
  FieldPlan plan;
  plan.name = field.name;
  plan.ragged = field.ragged;
  plan.dtype = field.dtype;
  if (!field.ragged) plan.sizes.assign(field.sizes.begin(), field.sizes.end());
  plan.element_bytes = static_cast<std::uint32_t>(shm::dtype_bytes(field.dtype));
  plan.input_row_bytes = field.row_bytes;
  return plan;
}

class Places {
 public:
  std::size_t take(std::size_t bytes) {
    const std::size_t place = end_;
    end_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return place;
  }
  std::size_t end() const { return end_; }

 private:
  std::size_t end_ = 0;
};

}  // namespace

Error BatchLayout::make(const RingView& ring, std::uint32_t rows_max, std::uint32_t uses,
                        const std::vector<FieldOptions>& wishes, BatchLayout& layout) {
  for (const FieldOptions& wish : wishes) {
    const auto named = [&](const auto& other) { return other.name == wish.name; };
    if (std::ranges::count_if(wishes, named) > 1) return refused(wish.name, "is named twice");
    if (std::ranges::none_of(ring.fields(), named)) {
      return refused(wish.name, "the stream has no such field");
    }
  }
  Places places;
  layout.rows_max = rows_max;
  for (const Field& field : ring.fields()) {
    FieldPlan plan = as_it_is(field);
    for (const FieldOptions& wish : wishes) {
      if (wish.name != field.name) continue;
      if (Error e = use_wish(field, wish, plan); !e.ok()) return e;
    }
    if (field.ragged) plan.offsets = places.take((rows_max + 1) * sizeof(std::uint64_t));
    layout.flips_any = layout.flips_any || plan.flip;
    layout.needs_kernels = layout.needs_kernels || plan.transform != Transform::kNone;
    layout.fields.push_back(std::move(plan));
  }
  if (layout.flips_any) layout.flips = places.take(std::size_t{rows_max} * uses);
  layout.meta_bytes = places.end();
  for (FieldPlan& plan : layout.fields) {
    plan.row_bytes = plan.input_row_bytes / plan.element_bytes * shm::dtype_bytes(plan.dtype);
    plan.input = plan.result = places.take(rows_max * plan.input_row_bytes);
    if (plan.transform != Transform::kNone) plan.result = places.take(rows_max * plan.row_bytes);
  }
  layout.bytes = std::max(places.end(), kAlignment);
  return {};
}

}  // namespace echoline::client::cuda
