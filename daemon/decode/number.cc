// Numbers written as decimal text: labels, weights, coordinates of one value.
#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "decode/field.h"

namespace echoline::decode {
namespace {

constexpr std::string_view kBlank = " \t\r\n";
constexpr std::string_view kNameHint =
    "; for labels that are names in a list of files, name a file of classes in read.classes";

// Without the blanks around: files of one number usually end with a line feed.
std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

template <typename T>
class NumberField final : public Field {
 public:
  explicit NumberField(shm::DType dtype) : dtype_(dtype) {}

  FieldType type() const override {
    FieldType type;
    type.dtype = dtype_;
    type.fixed = true;
    return type;
  }

  Status read(std::span<const std::byte> bytes, Bench&, Tensor& out) const override {
    const std::string_view text =
        trimmed({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (text.empty()) return {Code::kInvalidArgument, "no number: the file is empty or blank"};
    T value{};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc::result_out_of_range) return refused(bytes, "beyond the range of");
    if (error != std::errc() || stop != end || !finite(value))
      return refused(bytes, "no number of type", is_name(text) ? kNameHint : "");
    out.dtype = dtype_;
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
    return {Code::kInvalidArgument,
            fmt::format("{} is {} {}{}", quoted(bytes), reason, shm::dtype_name(dtype_), hint)};
  }

  const shm::DType dtype_;
};

template <typename T>
FieldResult make(shm::DType dtype) {
  return std::unique_ptr<Field>(new NumberField<T>(dtype));
}

}  // namespace

FieldResult make_number_field(shm::DType dtype) {
  switch (dtype) {
    case shm::kUint8:
      return make<std::uint8_t>(dtype);
    case shm::kInt8:
      return make<std::int8_t>(dtype);
    case shm::kUint16:
      return make<std::uint16_t>(dtype);
    case shm::kInt16:
      return make<std::int16_t>(dtype);
    case shm::kUint32:
      return make<std::uint32_t>(dtype);
    case shm::kInt32:
      return make<std::int32_t>(dtype);
    case shm::kUint64:
      return make<std::uint64_t>(dtype);
    case shm::kInt64:
      return make<std::int64_t>(dtype);
    case shm::kFloat32:
      return make<float>(dtype);
    case shm::kFloat64:
      return make<double>(dtype);
    default:
      return Status(Code::kInvalidArgument,
                    fmt::format("{} cannot be read from text", shm::dtype_name(dtype)));
  }
}

}  // namespace echoline::decode
