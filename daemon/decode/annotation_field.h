// A field with one element for each object of a file of annotations.
#pragma once

#include <utility>

#include "decode/annotations.h"
#include "decode/field.h"

namespace echoline::decode {

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

 protected:
  // The first size is the largest number of objects.
  const Shape& shape() const { return type_.shape; }

 private:
  // Writes the field's element of one object.
  virtual Status write(const Annotations& found, const Annotations::Object& object,
                       std::byte* out) const = 0;

  const ReadAnnotations reader_;
  const FieldType type_;
};

}  // namespace echoline::decode
