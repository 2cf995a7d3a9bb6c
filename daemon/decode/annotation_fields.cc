// Fields made of a file of annotations: boxes float32 [n, 4], classes int64 [n], flags uint8 [n].
#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "decode/annotations.h"
#include "decode/field.h"
#include "echoline/v1/config.pb.h"

namespace echoline::decode {
namespace {

constexpr std::uint32_t kObjectsMaxDefault = 256;

// All fields of a file have one element for each of its objects, in the same order.
class AnnotationField : public Field {
 public:
  AnnotationField(ReadAnnotations reader, FieldType type)
      : reader_(reader), type_(std::move(type)) {}

  FieldType type() const override { return type_; }
  ReadAnnotations annotations() const override { return reader_; }

  Status read(std::span<const std::byte> bytes, Scratch& scratch, Tensor& out) const override {
    const std::uint32_t objects_max = type_.shape.sizes[0];
    ECHOLINE_TRY(scratch.annotations.read(reader_, bytes, objects_max));
    const Annotations& found = scratch.annotations.found();
    out.dtype = type_.dtype;
    out.shape = type_.shape;
    out.shape.sizes[0] = static_cast<std::uint32_t>(found.objects.size());
    out.bytes.resize(found.objects.size() * type_.inner_bytes());
    std::byte* at = out.bytes.data();
    for (const Annotations::Object& object : found.objects) {
      ECHOLINE_TRY(write(found, object, at));
      at += type_.inner_bytes();
    }
    return {};
  }

 private:
  // Writes the field's element of one object.
  virtual Status write(const Annotations& found, const Annotations::Object& object,
                       std::byte* out) const = 0;

  const ReadAnnotations reader_;
  const FieldType type_;
};

class BoxField final : public AnnotationField {
 public:
  using AnnotationField::AnnotationField;

  void place_in(const ImageSize& picture, Tensor& tensor) const override {
    if (annotations() != read_yolo) return;
    auto* corner = reinterpret_cast<float*>(tensor.bytes.data());
    for (std::uint64_t i = 0; i < tensor.shape.elements(); ++i) {
      corner[i] *= static_cast<float>(i % 2 == 0 ? picture.width : picture.height);
    }
  }

 private:
  Status write(const Annotations&, const Annotations::Object& object,
               std::byte* out) const override {
    std::array<float, 4> corners{};
    for (std::size_t i = 0; i < corners.size(); ++i) {
      corners[i] = static_cast<float>(object.box[i]);
    }
    std::memcpy(out, corners.data(), sizeof corners);
    return {};
  }
};

class LabelField final : public AnnotationField {
 public:
  LabelField(ReadAnnotations reader, FieldType type, const v1::DecodeField& entry)
      : AnnotationField(reader, std::move(type)) {
    for (const std::string& name : entry.classes()) {
      numbers_.emplace(name, static_cast<std::int64_t>(numbers_.size()));
    }
  }

 private:
  Status write(const Annotations& found, const Annotations::Object& object,
               std::byte* out) const override {
    ECHOLINE_ASSIGN(const std::int64_t number, number_of(found.name(object)));
    std::memcpy(out, &number, sizeof number);
    return {};
  }

  // The place of a name in the list of classes; without a list the number that the name is.
  Result<std::int64_t> number_of(std::string_view name) const {
    std::int64_t number = 0;
    if (!numbers_.empty()) {
      const auto known = numbers_.find(name);
      if (known != numbers_.end()) return known->second;
    } else {
      const char* const end = name.data() + name.size();
      const auto [stop, error] = std::from_chars(name.data(), end, number);
      if (error == std::errc() && stop == end) return number;
    }
    return Status(Code::kInvalidArgument, fmt::format("{} is not among the classes",
                                                      quoted(std::as_bytes(std::span(name)))));
  }

  std::map<std::string, std::int64_t, std::less<>> numbers_;
};

class FlagField final : public AnnotationField {
 public:
  using AnnotationField::AnnotationField;

 private:
  Status write(const Annotations&, const Annotations::Object& object,
               std::byte* out) const override {
    *out = static_cast<std::byte>(object.flag ? 1 : 0);
    return {};
  }
};

// A name in two places has two labels.
Status check_classes(const v1::DecodeField& entry) {
  std::set<std::string_view> names;
  for (const std::string& name : entry.classes()) {
    if (names.insert(name).second) continue;
    return Status(Code::kInvalidArgument,
                  fmt::format("classes has {} twice; each class is listed once",
                              quoted(std::as_bytes(std::span(name)))));
  }
  return {};
}

Result<FieldType> type_of(const v1::DecodeField& entry, shm::DType dtype) {
  if (entry.shape_size() != 0) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} has no shape; max_objects is its largest length", entry.as()));
  }
  FieldType type;
  type.dtype = dtype;
  type.ragged = true;
  type.shape = {{entry.max_objects() == 0 ? kObjectsMaxDefault : entry.max_objects()}, 1};
  return type;
}

}  // namespace

template <ReadAnnotations reader>
FieldResult make_box_field(const v1::DecodeField& entry) {
  ECHOLINE_ASSIGN(FieldType type, type_of(entry, shm::kFloat32));
  type.shape = {{type.shape.sizes[0], 4}, 2};
  return std::unique_ptr<Field>(new BoxField(reader, std::move(type)));
}

template <ReadAnnotations reader>
FieldResult make_label_field(const v1::DecodeField& entry) {
  ECHOLINE_ASSIGN(FieldType type, type_of(entry, shm::kInt64));
  if (reader == read_voc && entry.classes().empty()) {
    return Status(Code::kInvalidArgument, "classes is missing: the names in the order of numbers");
  }
  ECHOLINE_TRY(check_classes(entry));
  return std::unique_ptr<Field>(new LabelField(reader, std::move(type), entry));
}

template <ReadAnnotations reader>
FieldResult make_flag_field(const v1::DecodeField& entry) {
  ECHOLINE_ASSIGN(FieldType type, type_of(entry, shm::kUint8));
  return std::unique_ptr<Field>(new FlagField(reader, std::move(type)));
}

template FieldResult make_box_field<read_voc>(const v1::DecodeField&);
template FieldResult make_box_field<read_coco>(const v1::DecodeField&);
template FieldResult make_box_field<read_yolo>(const v1::DecodeField&);
template FieldResult make_label_field<read_voc>(const v1::DecodeField&);
template FieldResult make_label_field<read_coco>(const v1::DecodeField&);
template FieldResult make_label_field<read_yolo>(const v1::DecodeField&);
template FieldResult make_flag_field<read_voc>(const v1::DecodeField&);
template FieldResult make_flag_field<read_coco>(const v1::DecodeField&);

}  // namespace echoline::decode
