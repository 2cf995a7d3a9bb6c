// The step multi_crop: several crops of one picture. Each is a field of its own, so that all other
// steps on images work on it. Crop k draws as random_resized_crop does, with k in the key.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "augment/field_programs.h"
#include "augment/sample_fields.h"
#include "augment/transforms.h"

namespace echoline::augment {
namespace {

// Beyond it, the numbers of the crops would not fit UseKey::crop.
constexpr std::size_t kCropsMax = 64;

class MultiCropStep final : public SampleStep {
 public:
  // `crops`: of the picture in `field`. Their results follow the other fields.
  MultiCropStep(std::vector<decode::FieldType> outputs, std::size_t field,
                std::vector<FieldPrograms> crops)
      : outputs_(std::move(outputs)), field_(field), crops_(std::move(crops)) {}

  const std::vector<decode::FieldType>& outputs() const override { return outputs_; }

  std::unique_ptr<Scratch> make_scratch() const override {
    auto scratch = std::make_unique<CropScratch>();
    for (const FieldPrograms& crop : crops_) scratch->programs.push_back(crop.make_scratch());
    scratch->picture.tensors.resize(1);
    scratch->made.resize(crops_.size());
    return scratch;
  }

  Status run(const decode::Sample& in, const UseKey& key, Scratch* scratch,
             decode::Sample& out) const override {
    CropScratch& own = *static_cast<CropScratch*>(scratch);
    own.picture.tensors.front().borrow(in.tensors[field_]);
    out.tensors.resize(outputs_.size());
    auto to = out.tensors.begin();
    for (std::size_t i = 0; i < in.tensors.size(); ++i) {
      if (i != field_) (to++)->borrow(in.tensors[i]);
    }
    for (std::size_t i = 0; i < crops_.size(); ++i) {
      decode::Sample& made = own.made[i];
      ECHOLINE_TRY(crops_[i].make_sample(own.picture, key, own.programs[i], made));
      (to++)->borrow(made.tensors.front());
    }
    return {};
  }

 private:
  struct CropScratch final : Scratch {
    std::vector<FieldPrograms::Scratch> programs;  // by crop
    decode::Sample picture;
    std::vector<decode::Sample> made;  // by crop, one tensor each
  };

  const std::vector<decode::FieldType> outputs_;
  const std::size_t field_;
  const std::vector<FieldPrograms> crops_;
};

// The same as the step random_resized_crop.
Result<FieldProgram> crop_program(const v1::MultiCropPart& settings, const decode::FieldType& image,
                                  std::uint8_t crop, std::uint8_t number) {
  v1::Step step;
  v1::RandomResizedCrop& same = *step.mutable_random_resized_crop();
  *same.mutable_size() = settings.size();
  *same.mutable_scale() = settings.scale();
  *same.mutable_ratio() = settings.ratio();
  if (settings.has_interpolation()) same.set_interpolation(settings.interpolation());
  FieldProgram program;
  program.input = image;
  program.input.crop = crop;
  ECHOLINE_TRY(kRandomResizedCrop.compile(step, number, program));
  program.mark_rows();
  program.instructions.back().step = "multi_crop " + image.name;
  return program;
}

Status check_image(const std::vector<decode::FieldType>& inputs, const decode::FieldType& image) {
  if (!image.image) {
    return {Code::kInvalidArgument, fmt::format("field {} is no image", image.name)};
  }
  if (!image.crops.empty()) {
    return {Code::kInvalidArgument,
            fmt::format("field {} is one of several crops already", image.name)};
  }
  const auto follower = std::ranges::find(inputs, image.name, &decode::FieldType::of);
  if (follower == inputs.end()) return {};
  return {Code::kInvalidArgument,
          fmt::format("field {} belongs to {} and cannot follow several crops of it",
                      follower->name, image.name)};
}

struct Crops {
  std::vector<decode::FieldType> fields;  // those of the sample, then those of the crops
  std::vector<FieldPrograms> programs;    // by crop
};

// Adds the crops of one name.
Status add_crops(const std::string& name, const v1::MultiCropPart& part,
                 const decode::FieldType& image, std::uint8_t number, Crops& crops) {
  const std::uint32_t count = part.has_count() ? part.count() : 1;
  if (count < 1 || crops.programs.size() + count > kCropsMax) {
    return {Code::kInvalidArgument,
            fmt::format("count is {}; all crops together: 1 to {}", count, kCropsMax)};
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto crop = static_cast<std::uint8_t>(crops.programs.size());
    ECHOLINE_ASSIGN(FieldProgram program, crop_program(part, image, crop, number));
    decode::FieldType type = program.output();
    type.name = fmt::format("{}_{}", name, i);
    type.crops = name;
    ECHOLINE_TRY(add_field(crops.fields, std::move(type)));
    std::vector<FieldProgram> one;
    one.push_back(std::move(program));
    crops.programs.emplace_back(std::move(one));
  }
  return {};
}

Result<std::unique_ptr<SampleStep>> make_multi_crop(const v1::Step& step, std::uint8_t number,
                                                    const std::vector<decode::FieldType>& inputs) {
  const v1::MultiCrop& settings = step.multi_crop();
  ECHOLINE_ASSIGN(const std::size_t field, find_field(inputs, settings.field()));
  ECHOLINE_TRY(check_image(inputs, inputs[field]));
  if (settings.crops().empty()) return Status(Code::kInvalidArgument, "crops is empty");
  Crops crops{.fields = inputs, .programs = {}};
  crops.fields.erase(crops.fields.begin() + static_cast<std::ptrdiff_t>(field));
  // In the order of their names, as fields are.
  const std::map<std::string, v1::MultiCropPart> parts(settings.crops().begin(),
                                                       settings.crops().end());
  for (const auto& [name, part] : parts) {
    ECHOLINE_TRY(add_crops(name, part, inputs[field], number, crops).with_context("crops." + name));
  }
  // A step could not tell it from the crops of that name.
  for (const decode::FieldType& type : crops.fields) {
    if (!parts.contains(type.name)) continue;
    return Status(Code::kInvalidArgument,
                  fmt::format("crops.{}: a field has this name; choose another one", type.name));
  }
  return std::unique_ptr<SampleStep>(
      new MultiCropStep(std::move(crops.fields), field, std::move(crops.programs)));
}

}  // namespace

const Transform kMultiCrop{v1::Step::kMultiCrop, nullptr, make_multi_crop};

}  // namespace echoline::augment
