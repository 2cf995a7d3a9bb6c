#include "decode/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "decode/field.h"
#include "echoline/v1/config.pb.h"

namespace echoline::decode {
namespace {

constexpr std::string_view kKinds =
    "rgb, gray, text, bytes, uint8, int8, uint16, int16, uint32, int32, uint64, int64, float32, "
    "float64";

std::optional<shm::DType> element_type(std::string_view as) {
  for (std::uint32_t value = shm::kUint8; value <= shm::kFloat64; ++value) {
    if (value != shm::kFloat16 && shm::dtype_name(value) == as)
      return static_cast<shm::DType>(value);
  }
  return std::nullopt;
}

Status refused(std::string reason) { return {Code::kInvalidArgument, std::move(reason)}; }

FieldResult make_field(const v1::DecodeField& entry) {
  const std::string& as = entry.as();
  const bool image = as == "rgb" || as == "gray";
  if (entry.key().empty()) return refused("key is missing: the extension of the record's file");
  if (entry.exif() && !image) return refused("exif is for images, as: rgb or gray");
  if (image) return make_image_field(entry);
  if (as == "text" || as == "bytes") {
    if (entry.shape_size() != 0)
      return refused(fmt::format("{} has no shape; its length differs", as));
    return make_text_field(entry);
  }
  const std::optional<shm::DType> dtype = element_type(as);
  if (!dtype) return refused(fmt::format("as is \"{}\"; allowed are {}", as, kKinds));
  if (entry.shape_size() == 0) return make_number_field(*dtype);
  ECHOLINE_ASSIGN(const Shape shape, shape_of(entry, *dtype));
  return make_array_field(*dtype, shape);
}

// One entry of the step, ready to run.
struct Entry {
  std::string key;
  std::string context;  // of its errors
  std::unique_ptr<Field> field;
};

class CompiledDecoder final : public Decoder {
 public:
  CompiledDecoder(std::vector<Entry> entries, std::vector<FieldType> types)
      : entries_(std::move(entries)), types_(std::move(types)) {}

  const std::vector<FieldType>& fields() const override { return types_; }
  std::unique_ptr<Scratch> make_scratch() const override { return std::make_unique<Bench>(); }

  Status decode(const record::Fields& record, Scratch& scratch, Sample& out) const override {
    auto& bench = static_cast<Bench&>(scratch);
    out.tensors.resize(entries_.size());
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const record::FieldBytes* file = record.find(entries_[i].key);
      if (file == nullptr) return missing(record, entries_[i]);
      Status status = entries_[i].field->read(file->bytes, bench, out.tensors[i]);
      if (!status.ok()) return std::move(status).with_context(entries_[i].context);
    }
    return {};
  }

 private:
  static Status missing(const record::Fields& record, const Entry& entry) {
    std::string present;
    for (const record::FieldBytes& file : record.fields) {
      present += fmt::format("{}{}", present.empty() ? "" : ", ", file.name);
    }
    return Status(Code::kNotFound, fmt::format("the record has no such file; it has: {}",
                                               present.empty() ? "nothing" : present))
        .with_context(entry.context);
  }

  const std::vector<Entry> entries_;
  const std::vector<FieldType> types_;
};

}  // namespace

Result<std::unique_ptr<Decoder>> Decoder::compile(const v1::Decode& step) {
  if (step.fields().empty()) return refused("decode: no field; at least one is needed");
  std::map<std::string_view, const v1::DecodeField*> sorted;
  for (const auto& [name, entry] : step.fields()) sorted.emplace(name, &entry);
  std::vector<Entry> entries;
  std::vector<FieldType> types;
  for (const auto& [name, entry] : sorted) {
    FieldResult field = make_field(*entry);
    if (!field.ok()) return field.status().with_context(fmt::format("decode: field {}", name));
    types.push_back(field.value()->type());
    types.back().name = name;
    entries.push_back(
        {entry->key(), fmt::format("field {} ({})", name, entry->key()), std::move(field).value()});
  }
  return std::unique_ptr<Decoder>(new CompiledDecoder(std::move(entries), std::move(types)));
}

}  // namespace echoline::decode
