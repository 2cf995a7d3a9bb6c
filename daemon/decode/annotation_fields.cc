// Fields made of a file of annotations: boxes float32 [n, 4], classes int64 [n], flags uint8 [n].
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "decode/annotation_field.h"
#include "decode/classes.h"
#include "echoline/v1/config.pb.h"

namespace echoline::decode {
namespace {

constexpr std::uint32_t kObjectsMaxDefault = 256;

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
      : AnnotationField(reader, std::move(type)), classes_(entry) {}

 private:
  Status write(const Annotations& found, const Annotations::Object& object,
               std::byte* out) const override {
    ECHOLINE_ASSIGN(const std::int64_t number, classes_.number_of(found.name(object)));
    std::memcpy(out, &number, sizeof number);
    return {};
  }

  const Classes classes_;
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

}  // namespace

Result<FieldType> objects_type(const v1::DecodeField& entry, shm::DType dtype) {
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

template <ReadAnnotations reader>
FieldResult make_box_field(const v1::DecodeField& entry) {
  ECHOLINE_ASSIGN(FieldType type, objects_type(entry, shm::kFloat32));
  type.shape = {{type.shape.sizes[0], 4}, 2};
  return std::unique_ptr<Field>(new BoxField(reader, std::move(type)));
}

template <ReadAnnotations reader>
FieldResult make_label_field(const v1::DecodeField& entry) {
  ECHOLINE_ASSIGN(FieldType type, objects_type(entry, shm::kInt64));
  if (reader == read_voc && entry.classes().empty()) {
    return Status(Code::kInvalidArgument, "classes is missing: the names in the order of numbers");
  }
  ECHOLINE_TRY(Classes::check(entry));
  return std::unique_ptr<Field>(new LabelField(reader, std::move(type), entry));
}

template <ReadAnnotations reader>
FieldResult make_flag_field(const v1::DecodeField& entry) {
  ECHOLINE_ASSIGN(FieldType type, objects_type(entry, shm::kUint8));
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
