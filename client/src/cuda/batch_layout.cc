#include "cuda/batch_layout.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "echoline/shm/dtype.h"

namespace echoline::client::cuda {
namespace {

// The alignment of cuMemAlloc; more than any load of the kernels needs.
constexpr std::size_t kAlignment = 256;

Error refused(const std::string& field, const std::string& why) {
  return {ECHOLINE_INVALID_ARGUMENT, "field '" + field + "': " + why};
}

bool is_float(std::uint32_t dtype) {
  return dtype == ECHOLINE_FLOAT32 || dtype == ECHOLINE_FLOAT16 || dtype == ECHOLINE_BFLOAT16;
}

Error plan_image(const Field& field, FieldPlan& plan) {
  if (field.ragged || field.sizes.size() != 3) {
    return refused(field.name,
                   "only rows of [height, width, channels] can be normalised or flipped");
  }
  plan.height = field.sizes[0];
  plan.width = field.sizes[1];
  plan.channels = field.sizes[2];
  return {};
}

Error plan_normalize(const Field& field, const FieldOptions& options, FieldPlan& plan) {
  if (Error e = plan_image(field, plan); !e.ok()) return e;
  if (!is_float(options.dtype)) {
    return refused(field.name, "dtype must be float32, float16, bfloat16 or the stream's");
  }
  if (field.dtype != ECHOLINE_UINT8 || plan.channels > kChannelsMax) {
    return refused(field.name, "only uint8 pixels of up to " + std::to_string(kChannelsMax) +
                                   " channels can be normalised");
  }
  plan.transform = Transform::kNormalize;
  plan.dtype = options.dtype;
  plan.channels_first = options.layout == ECHOLINE_LAYOUT_CHW;
  if (plan.channels_first) plan.sizes = {plan.channels, plan.height, plan.width};
  for (std::uint32_t c = 0; c < plan.channels; ++c) {
    // The kernel computes pixel * scale + shift for (pixel / 255 - mean) / std.
    // A std of 0 means 1.
    const float deviation = options.std[c] == 0 ? 1.0F : options.std[c];
    plan.scale[c] = 1.0F / (255.0F * deviation);
    plan.shift[c] = -options.mean[c] / deviation;
  }
  return {};
}

// float16, rounded to nearest even as all conversions of this library.
std::uint16_t half_bits(double value) {
  const double size = std::abs(value);
  const int sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return 0x7E00;
  // Infinity from 65520 on, halfway between the largest float16 and the next power of two.
  if (size >= 65520) return static_cast<std::uint16_t>(sign | 0x7C00);
  // Subnormal: a multiple of 2^-24.
  if (size < 0x1p-14) return static_cast<std::uint16_t>(sign | std::lrint(size * 0x1p24));
  const int exponent = std::ilogb(size);
  const long mantissa = std::lrint(std::ldexp(size, 10 - exponent));  // with the leading one
  // The mantissa's leading one adds 1 to the exponent field, so 14 is added here for the bias of
  // 15. A carry of the rounding goes into the exponent in the same way.
  return static_cast<std::uint16_t>(sign | ((exponent + 14) * 1024 + mantissa));
}

// bfloat16, rounded to nearest even; adding the carry of the lower half does that.
std::uint16_t bfloat_bits(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

// The bits of `value` as an element of that type, converted as C++ does.
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
      // Negative numbers as two's complement; the kernel uses the low element_bytes.
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  }
}

// Whether an integer type has that number. Its maximum plus one is exact in a double, the maximum
// itself may not be.
template <typename T>
bool holds(double value) {
  return value == std::trunc(value) &&
         value >= static_cast<double>(std::numeric_limits<T>::min()) &&
         value < std::ldexp(1.0, std::numeric_limits<T>::digits);
}

// Whether an element of that type can have the value; floats can have any.
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

Error plan_pad(const Field& field, const FieldOptions& options, FieldPlan& plan) {
  if (!field.ragged) return refused(field.name, "only a ragged field can be padded");
  if (!fits(field.dtype, options.fill)) {
    return refused(field.name, "the fill " + std::to_string(options.fill) + " is no " +
                                   std::string(shm::dtype_name(field.dtype)));
  }
  plan.transform = Transform::kPad;
  // The result has rows of one length.
  plan.ragged = false;
  plan.sizes.assign(field.sizes.begin(), field.sizes.end());
  plan.fill = element_bits(field.dtype, options.fill);
  return {};
}

Error apply_options(const Field& field, const FieldOptions& options, FieldPlan& plan) {
  const bool converts = options.dtype != 0 && options.dtype != field.dtype;
  if (options.layout > ECHOLINE_LAYOUT_HWC) return refused(field.name, "no such layout");
  if (options.padded) {
    if (converts || options.flip)
      return refused(field.name, "padded fields keep their type and order");
    return plan_pad(field, options, plan);
  }
  plan.flip = options.flip;
  if (converts) return plan_normalize(field, options, plan);
  if (options.layout == ECHOLINE_LAYOUT_CHW) {
    return refused(field.name, "channels come first only together with a dtype of float");
  }
  if (!options.flip) return {};
  plan.transform = Transform::kFlip;
  return plan_image(field, plan);
}

FieldPlan copied_as_is(const Field& field) {
  FieldPlan plan;
  plan.name = field.name;
  plan.ragged = field.ragged;
  plan.dtype = field.dtype;
  plan.sizes.assign(field.sizes.begin() + (field.ragged ? 1 : 0), field.sizes.end());
  plan.element_bytes = static_cast<std::uint32_t>(shm::dtype_bytes(field.dtype));
  plan.input_row_bytes = field.row_bytes;
  return plan;
}

// Hands out offsets one after the other.
class OffsetAllocator {
 public:
  std::size_t take(std::size_t bytes) {
    const std::size_t offset = end_;
    end_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return offset;
  }
  std::size_t end() const { return end_; }

 private:
  std::size_t end_ = 0;
};

}  // namespace

Error BatchLayout::make(const RingView& ring, std::uint32_t rows_max, std::uint32_t uses,
                        const std::vector<FieldOptions>& options, BatchLayout& layout) {
  for (const FieldOptions& wanted : options) {
    const auto named = [&](const auto& other) { return other.name == wanted.name; };
    if (std::ranges::count_if(options, named) > 1) return refused(wanted.name, "is named twice");
    if (std::ranges::none_of(ring.fields(), named)) {
      return refused(wanted.name, "the stream has no such field");
    }
  }
  OffsetAllocator offsets;
  layout.rows_max = rows_max;
  for (const Field& field : ring.fields()) {
    FieldPlan plan = copied_as_is(field);
    for (const FieldOptions& wanted : options) {
      if (wanted.name != field.name) continue;
      if (Error e = apply_options(field, wanted, plan); !e.ok()) return e;
    }
    // Also for a field that is padded: the kernel reads the offsets.
    if (field.ragged) plan.offsets = offsets.take((rows_max + 1) * sizeof(std::uint64_t));
    layout.flips_any = layout.flips_any || plan.flip;
    layout.needs_kernels = layout.needs_kernels || plan.transform != Transform::kNone;
    layout.fields.push_back(std::move(plan));
  }
  // Everything that the CPU writes comes first: one copy takes it to the device.
  if (layout.flips_any) layout.flips = offsets.take(std::size_t{rows_max} * uses);
  layout.meta_bytes = offsets.end();
  for (FieldPlan& plan : layout.fields) {
    // A field without a kernel is used where it was copied to.
    // Counted in elements, because a transform can change their size.
    plan.row_bytes = plan.input_row_bytes / plan.element_bytes * shm::dtype_bytes(plan.dtype);
    plan.input = plan.result = offsets.take(rows_max * plan.input_row_bytes);
    if (plan.transform != Transform::kNone) plan.result = offsets.take(rows_max * plan.row_bytes);
  }
  // The driver refuses to allocate 0 bytes.
  layout.bytes = std::max(offsets.end(), kAlignment);
  return {};
}

}  // namespace echoline::client::cuda
