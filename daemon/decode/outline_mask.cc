// Masks from outlines: `as: coco_mask` and `as: yolo_mask`, class ids [height, width].
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "decode/classes.h"
#include "decode/field.h"
#include "echoline/v1/config.pb.h"

namespace echoline::decode {
namespace {

// Pixels that the objects of a file may cover together: a small file must not cost seconds.
constexpr std::uint64_t kPixelsMax = 64 << 20;
constexpr std::uint64_t kPicturesMax = 8;  // or the picture so often, if that is more

class OutlineMaskField final : public FieldOnPicture {
 public:
  OutlineMaskField(ReadAnnotations reader, FieldType type, std::uint32_t objects_max,
                   const v1::DecodeField& entry)
      : reader_(reader),
        type_(std::move(type)),
        as_(entry.as()),
        objects_max_(objects_max),
        classes_(entry, 1),
        // The classes of YOLO count from 0, which is the background.
        first_id_(reader == read_yolo && entry.classes().empty() ? 1 : 0) {}

  FieldType type() const override { return type_; }
  ReadAnnotations annotations() const override { return reader_; }

  Status read_on(const ImageSize& picture, std::span<const std::byte> bytes, Scratch& scratch,
                 Tensor& out) const override {
    ECHOLINE_TRY(scratch.annotations.read(reader_, bytes, objects_max_));
    out.dtype = type_.dtype;
    out.shape = {{picture.height, picture.width}, 2};
    out.bytes.resize(picture.pixels() * shm::dtype_bytes(type_.dtype));
    std::memset(out.bytes.data(), 0, out.bytes.size());
    return type_.dtype == shm::kUint8 ? draw<std::uint8_t>(picture, scratch, out)
                                      : draw<std::uint16_t>(picture, scratch, out);
  }

 private:
  template <typename Id>
  Status draw(const ImageSize& picture, Scratch& scratch, Tensor& out) const {
    const Annotations& found = scratch.annotations.found();
    auto* const ids = reinterpret_cast<Id*>(out.bytes.data());
    std::uint64_t budget = kCrossingsMax;
    std::uint64_t pixels_left = std::max(kPixelsMax, kPicturesMax * picture.pixels());
    for (std::size_t i = 0; i < found.objects.size(); ++i) {
      const Annotations::Object& object = found.objects[i];
      ECHOLINE_TRY(outline_pixels(found, i, picture, budget, scratch.outlines));
      ECHOLINE_ASSIGN(const Id id, id_of<Id>(i, found.name(object)));
      for (const PixelRun& run : scratch.outlines.runs) {
        if (run.end - run.begin > pixels_left)
          return {
              Code::kResourceExhausted,
              fmt::format("the objects up to annotation {} cover the picture more than {} times", i,
                          std::max(kPicturesMax, kPixelsMax / picture.pixels()))};
        pixels_left -= run.end - run.begin;
        fill(run, picture, id, ids);
      }
    }
    return {};
  }

  template <typename Id>
  Result<Id> id_of(std::size_t object, std::string_view name) const {
    constexpr std::int64_t kMax = std::numeric_limits<Id>::max();
    ECHOLINE_ASSIGN(const std::int64_t number, classes_.number_of(name));
    if (number >= 0 && number <= kMax - first_id_) return static_cast<Id>(number + first_id_);
    return Status(Code::kInvalidArgument,
                  fmt::format("annotation {} has the class {}; 0 to {} is allowed with {}", object,
                              number, kMax - first_id_, as_));
  }

  // A pixel of objects of different classes gets the id `ignore`.
  template <typename Id>
  void fill(const PixelRun& run, const ImageSize& picture, Id id, Id* ids) const {
    std::uint64_t row = run.begin % picture.height;
    std::uint64_t column = run.begin / picture.height;
    for (std::uint64_t i = run.begin; i < run.end; ++i) {
      Id& pixel = ids[row * picture.width + column];
      pixel = pixel == 0 || pixel == id ? id : static_cast<Id>(type_.ignore);
      if (++row < picture.height) continue;
      row = 0;
      ++column;
    }
  }

  const ReadAnnotations reader_;
  const FieldType type_;
  const std::string as_;
  const std::uint32_t objects_max_;
  const Classes classes_;
  const std::int64_t first_id_;  // that of class 0, where no classes are listed
};

}  // namespace

template <ReadAnnotations reader>
FieldResult make_outline_mask_field(const v1::DecodeField& entry) {
  ECHOLINE_ASSIGN(const FieldType objects, objects_type(entry, shm::kUint8));
  ECHOLINE_ASSIGN(FieldType type, mask_type(entry));
  ECHOLINE_TRY(Classes::check(entry));
  return std::unique_ptr<Field>(
      new OutlineMaskField(reader, std::move(type), objects.shape.sizes[0], entry));
}

template FieldResult make_outline_mask_field<read_coco>(const v1::DecodeField&);
template FieldResult make_outline_mask_field<read_yolo>(const v1::DecodeField&);

}  // namespace echoline::decode
