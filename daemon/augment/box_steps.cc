// The steps random_iou_crop and sanitize_boxes.
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "augment/box_group.h"
#include "augment/mask_mover.h"
#include "augment/object_mover.h"
#include "augment/parameters.h"
#include "augment/sample_fields.h"
#include "augment/transforms.h"

namespace echoline::augment {
namespace {

struct BoxScratch : SampleStep::Scratch {
  ChangedBoxes boxes;
  MaskScratch mask;
  ObjectScratch objects;
};

// A step that changes a group of boxes: all other fields stay as they are.
class BoxStep : public SampleStep {
 public:
  BoxStep(std::vector<decode::FieldType> outputs, BoxGroup group)
      : outputs_(std::move(outputs)), group_(std::move(group)) {}

  const std::vector<decode::FieldType>& outputs() const override { return outputs_; }
  std::unique_ptr<Scratch> make_scratch() const override { return std::make_unique<BoxScratch>(); }

  Status run(const decode::Sample& in, const UseKey& key, Scratch* scratch,
             decode::Sample& out) const override {
    ChangedBoxes& boxes = static_cast<BoxScratch*>(scratch)->boxes;
    ECHOLINE_TRY(boxes.start(in, group_));
    borrow_all(in, out, in.tensors.size());
    ECHOLINE_TRY(change(in, key, *static_cast<BoxScratch*>(scratch), out));
    boxes.write(in, group_, out.tensors);
    return {};
  }

 protected:
  const BoxGroup& group() const { return group_; }

  std::vector<decode::FieldType> outputs_;

 private:
  // Changes scratch.boxes, and may change other tensors of `out`, which borrow from `in`.
  virtual Status change(const decode::Sample& in, const UseKey& key, BoxScratch& scratch,
                        decode::Sample& out) const = 0;

  const BoxGroup group_;
};

class SanitizeBoxesStep final : public BoxStep {
 public:
  SanitizeBoxesStep(std::vector<decode::FieldType> outputs, BoxGroup group,
                    const v1::SanitizeBoxes& settings)
      : BoxStep(std::move(outputs), std::move(group)), settings_(settings) {}

 private:
  Status change(const decode::Sample&, const UseKey&, BoxScratch& scratch,
                decode::Sample&) const override {
    ChangedBoxes& boxes = scratch.boxes;
    for (std::size_t i = 0; i < boxes.count(); ++i) {
      const auto box = boxes.box(i);
      const float width = box[2] - box[0];
      const float height = box[3] - box[1];
      const bool large = width >= settings_.min_size() && height >= settings_.min_size() &&
                         width * height >= settings_.min_area();
      if (!large) boxes.remove(i);
    }
    return {};
  }

  const v1::SanitizeBoxes settings_;
};

class RandomIouCropStep final : public BoxStep {
 public:
  RandomIouCropStep(std::vector<decode::FieldType> outputs, BoxGroup group, std::size_t image,
                    IouCropSettings settings, std::uint8_t number)
      : BoxStep(std::move(outputs), std::move(group)),
        image_(image),
        settings_(std::move(settings)),
        number_(number),
        masks_(masks_of_image(outputs_, outputs_[image_].name)),
        objects_(objects_of_image(outputs_, outputs_[image_].name)) {
    outputs_[image_].fixed = false;
    for (const std::size_t mask : masks_) outputs_[mask].fixed = false;
    for (const std::size_t field : this->group().masks) outputs_[field].objects_size = {};
    for (const std::size_t field : objects_) outputs_[field].objects_size = {};
  }

 private:
  Status change(const decode::Sample& in, const UseKey& key, BoxScratch& scratch,
                decode::Sample& out) const override {
    ChangedBoxes& boxes = scratch.boxes;
    const decode::Tensor& image = in.tensors[image_];
    const ImageSize size{image.shape.sizes[0], image.shape.sizes[1]};
    const Box crop =
        random_iou_crop_box(key, number_, size.height, size.width, boxes.corners(), settings_);
    if (crop == decode::whole_picture(size)) return {};
    for (std::size_t i = 0; i < boxes.count(); ++i) {
      if (!has_centre(crop, boxes.box(i))) boxes.remove(i);
    }
    const auto moves = [&](Mover& mover) {
      mover.cut(crop.top, crop.left, {crop.height, crop.width});
    };
    ECHOLINE_TRY(boxes.move(group(), size, moves));
    boxes.remove_empty();
    cut(image, crop, out.tensors[image_]);
    for (const std::size_t mask : masks_) {
      decode::Tensor& moved = out.tensors[mask];
      make_room(moved, outputs_[mask].dtype, {{crop.height, crop.width}, 2});
      ECHOLINE_TRY(move_mask(outputs_[mask], in.tensors[mask], image, moves, scratch.mask,
                             moved.bytes.data()));
    }
    for (const std::size_t field : objects_) {
      ECHOLINE_TRY(
          move_objects(size, moves, scratch.objects, in.tensors[field], out.tensors[field]));
    }
    return {};
  }

  static void cut(const decode::Tensor& image, const Box& crop, decode::Tensor& out) {
    View view;
    view.data = reinterpret_cast<const std::uint8_t*>(image.content().data());
    view.size = {image.shape.sizes[0], image.shape.sizes[1]};
    view.channels = image.shape.sizes[2];
    view.stride = view.row_bytes();
    std::byte* const pixels =
        make_room(out, shm::kUint8, {{crop.height, crop.width, view.channels}, 3});
    copy_pixels(view.crop(crop), reinterpret_cast<std::uint8_t*>(pixels));
  }

  const std::size_t image_;
  const IouCropSettings settings_;
  const std::uint8_t number_;
  const std::vector<std::size_t> masks_;
  const std::vector<std::size_t> objects_;  // masks of objects without boxes
};

Status refused(std::string reason) { return {Code::kInvalidArgument, std::move(reason)}; }

Result<std::unique_ptr<SampleStep>> make_sanitize_boxes(
    const v1::Step& step, std::uint8_t, const std::vector<decode::FieldType>& inputs) {
  const v1::SanitizeBoxes& settings = step.sanitize_boxes();
  ECHOLINE_ASSIGN(const std::size_t boxes, find_field(inputs, settings.field()));
  if (!inputs[boxes].may_be_boxes()) {
    return refused(
        fmt::format("field {} has no boxes: those are float32 [n, 4] of different "
                    "lengths",
                    settings.field()));
  }
  ECHOLINE_TRY(check_removable(inputs, boxes));
  if (!(settings.min_size() >= 0 && settings.min_area() >= 0)) {
    return refused("min_size and min_area are at least 0");
  }
  return std::unique_ptr<SampleStep>(
      new SanitizeBoxesStep(inputs, group_of(inputs, boxes), settings));
}

Result<IouCropSettings> settings_of(const v1::RandomIouCrop& step) {
  IouCropSettings settings;
  ECHOLINE_ASSIGN(settings.scale, range_of(step.scale(), "scale", {0.3, 1.0}));
  ECHOLINE_ASSIGN(settings.ratio, range_of(step.ratio(), "ratio", {0.5, 2.0}));
  if (settings.scale[1] > 1) return refused("scale is at most 1");
  settings.overlaps = {step.overlaps().begin(), step.overlaps().end()};
  if (settings.overlaps.empty()) settings.overlaps = {0, 0.1, 0.3, 0.5, 0.7, 0.9, 1};
  settings.tries = step.has_tries() ? step.tries() : 40;
  return settings;
}

Result<std::unique_ptr<SampleStep>> make_random_iou_crop(
    const v1::Step& step, std::uint8_t number, const std::vector<decode::FieldType>& inputs) {
  const v1::RandomIouCrop& settings = step.random_iou_crop();
  ECHOLINE_ASSIGN(const std::size_t image, find_field(inputs, settings.field()));
  if (!inputs[image].image) {
    return refused(fmt::format("field {} is no image here: random_iou_crop comes before normalize",
                               settings.field()));
  }
  const std::vector<BoxGroup> groups = groups_of_image(inputs, settings.field());
  if (groups.size() != 1) {
    return refused(fmt::format("field {} has {} fields of boxes; one is needed, with `of: {}`",
                               settings.field(), groups.size(), settings.field()));
  }
  ECHOLINE_TRY(check_followers(inputs, settings.field()));
  ECHOLINE_ASSIGN(IouCropSettings crop, settings_of(settings));
  return std::unique_ptr<SampleStep>(
      new RandomIouCropStep(inputs, groups[0], image, std::move(crop), number));
}

}  // namespace

const Transform kSanitizeBoxes{
    .step = v1::Step::kSanitizeBoxes, .make = make_sanitize_boxes, .is_pure = true};
const Transform kRandomIouCrop{v1::Step::kRandomIouCrop, nullptr, make_random_iou_crop};

}  // namespace echoline::augment
