// Numbers: one as decimal text, such as a label or a weight. With a shape, arrays: see
// raw_array.cc.
#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "base/ascii.h"
#include "decode/field.h"
#include "echoline/v1/config.pb.h"

namespace echoline::decode {
namespace {

constexpr std::string_view kNameHint =
    "; for labels that are names in a list of files, name a file of classes in read.classes";

template <typename T>
constexpr shm::DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) return shm::kFloat32;
  if constexpr (std::is_same_v<T, double>) return shm::kFloat64;
  constexpr bool kSigned = std::is_signed_v<T>;
  switch (sizeof(T)) {
    case 1:
      return kSigned ? shm::kInt8 : shm::kUint8;
    case 2:
      return kSigned ? shm::kInt16 : shm::kUint16;
    case 4:
      return kSigned ? shm::kInt32 : shm::kUint32;
    default:
      return kSigned ? shm::kInt64 : shm::kUint64;
  }
}

template <typename T>
class NumberField final : public Field {
 public:
  FieldType type() const override {
    FieldType type;
    type.dtype = dtype_of<T>();
    type.fixed = true;
    return type;
  }

  Status read(std::span<const std::byte> bytes, Scratch&, Tensor& out) const override {
    const std::string_view text =
        trimmed({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (text.empty()) return {Code::kInvalidArgument, "no number: the file is empty or blank"};
    T value{};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc::result_out_of_range) return refused(bytes, "beyond the range of");
    if (error != std::errc() || stop != end || !finite(value))
      return refused(bytes, "no number of type", is_name(text) ? kNameHint : "");
    out.dtype = dtype_of<T>();
    out.shape = {};
    out.bytes.resize(sizeof value);
    std::memcpy(out.bytes.data(), &value, sizeof value);
    return {};
  }

 private:
  static bool finite(T value) {
    if constexpr (std::is_floating_point_v<T>) return std::isfinite(value);
    return true;
  }

  static bool is_name(std::string_view text) {
    return std::is_integral_v<T> && std::isalpha(static_cast<unsigned char>(text.front())) != 0;
  }

  Status refused(std::span<const std::byte> bytes, std::string_view reason,
                 std::string_view hint = "") const {
    return {Code::kInvalidArgument, fmt::format("{} is {} {}{}", quoted(bytes), reason,
                                                shm::dtype_name(dtype_of<T>()), hint)};
  }
};

}  // namespace

template <typename T>
FieldResult make_value_field(const v1::DecodeField& entry) {
  if (entry.shape_size() == 0 && entry.ragged()) {
    return Status(Code::kInvalidArgument, "ragged is for arrays: add shape, the largest one");
  }
  if (entry.shape_size() == 0) return std::unique_ptr<Field>(new NumberField<T>);
  ECHOLINE_ASSIGN(const Shape shape, shape_of(entry, dtype_of<T>()));
  return make_array_field(dtype_of<T>(), shape, entry.ragged());
}

template FieldResult make_value_field<std::uint8_t>(const v1::DecodeField&);
template FieldResult make_value_field<std::int8_t>(const v1::DecodeField&);
template FieldResult make_value_field<std::uint16_t>(const v1::DecodeField&);
template FieldResult make_value_field<std::int16_t>(const v1::DecodeField&);
template FieldResult make_value_field<std::uint32_t>(const v1::DecodeField&);
template FieldResult make_value_field<std::int32_t>(const v1::DecodeField&);
template FieldResult make_value_field<std::uint64_t>(const v1::DecodeField&);
template FieldResult make_value_field<std::int64_t>(const v1::DecodeField&);
template FieldResult make_value_field<float>(const v1::DecodeField&);
template FieldResult make_value_field<double>(const v1::DecodeField&);

}  // namespace echoline::decode
