// The steps rand_augment, trivial_augment_wide and auto_augment: changes of an image that are drawn
// from a list.
#include <fmt/format.h>

#include <functional>

#include "augment/apply_change.h"
#include "augment/parameters.h"
#include "augment/transforms.h"
#include "recipes/recipe_draws.h"

namespace echoline::augment {
namespace {

using recipes::Changes;
using recipes::Resampling;

// Draws the changes of a use for a picture of this size.
using RecipeDraw = std::function<Changes(const UseKey&, const ImageSize&)>;

class RecipeOp final : public Op {
 public:
  RecipeOp(RecipeDraw draw, const Resampling& resampling)
      : draw_(std::move(draw)), resampling_(resampling) {}

  bool moves_points() const override { return true; }
  void move(const UseKey& key, const ImageSize& in, Mover& mover) const override {
    const Changes changes = draw_(key, in);
    for (const recipes::Change& change : changes.span()) {
      if (const auto motion = motion_of(change, in)) mover.move(*motion, in);
    }
  }
  void apply(const Work& work, Picture& picture, bool in_row) const override {
    const Changes changes = draw_(work.key, picture.size());
    for (const recipes::Change& change : changes.span()) {
      const bool is_last = &change == &changes.span().back();
      apply_change(change, resampling_, picture, in_row && is_last);
    }
  }

 private:
  const RecipeDraw draw_;
  const Resampling resampling_;
};

// Of the settings that the three steps share.
template <typename Settings>
Result<Resampling> resampling_of(const Settings& settings, const FieldProgram& program) {
  Resampling resampling;
  ECHOLINE_ASSIGN(resampling.fill, fill_of(settings.fill(), program.input.shape.sizes[2]));
  const std::string& name = settings.interpolation();
  if (name == "bilinear") {
    resampling.sampling = recipes::Sampling::kBilinear;
  } else if (!name.empty() && name != "nearest") {
    return Status(Code::kInvalidArgument,
                  fmt::format("interpolation is \"{}\"; allowed are nearest, bilinear", name));
  }
  return resampling;
}

Status check_range(const char* name, std::uint32_t value, std::uint32_t least,
                   std::uint32_t greatest) {
  if (value >= least && value <= greatest) return {};
  return {Code::kInvalidArgument,
          fmt::format("{} is {}; {} to {} is allowed", name, value, least, greatest)};
}

constexpr std::uint32_t kBinsMax = 1000;

Status compile_rand_augment(const v1::Step& step, std::uint8_t number, FieldProgram& program) {
  const v1::RandAugment& settings = step.rand_augment();
  recipes::RandAugment recipe;
  if (settings.has_operations()) recipe.operations = settings.operations();
  if (settings.has_magnitude()) recipe.magnitude = settings.magnitude();
  if (settings.has_bins()) recipe.bins = settings.bins();
  ECHOLINE_TRY(check_range("operations", recipe.operations, 1, Changes::kMax));
  ECHOLINE_TRY(check_range("bins", recipe.bins, 2, kBinsMax));
  ECHOLINE_TRY(check_range("magnitude", recipe.magnitude, 0, recipe.bins - 1));
  ECHOLINE_ASSIGN(const Resampling resampling, resampling_of(settings, program));
  return program.append(std::make_unique<RecipeOp>(
      [number, recipe](const UseKey& key, const ImageSize& size) {
        return recipes::rand_augment_draw(key, number, size, recipe);
      },
      resampling));
}

Status compile_trivial_augment_wide(const v1::Step& step, std::uint8_t number,
                                    FieldProgram& program) {
  const v1::TrivialAugmentWide& settings = step.trivial_augment_wide();
  const std::uint32_t bins = settings.has_bins() ? settings.bins() : 31;
  ECHOLINE_TRY(check_range("bins", bins, 2, kBinsMax));
  ECHOLINE_ASSIGN(const Resampling resampling, resampling_of(settings, program));
  return program.append(std::make_unique<RecipeOp>(
      [number, bins](const UseKey& key, const ImageSize& size) {
        return recipes::trivial_augment_wide_draw(key, number, size, bins);
      },
      resampling));
}

Result<recipes::Policy> policy_of(const std::string& name) {
  if (name.empty() || name == "imagenet") return recipes::Policy::kImageNet;
  if (name == "cifar10") return recipes::Policy::kCifar10;
  if (name == "svhn") return recipes::Policy::kSvhn;
  return Status(Code::kInvalidArgument,
                fmt::format("policy is \"{}\"; allowed are imagenet, cifar10, svhn", name));
}

Status compile_auto_augment(const v1::Step& step, std::uint8_t number, FieldProgram& program) {
  const v1::AutoAugment& settings = step.auto_augment();
  ECHOLINE_ASSIGN(const recipes::Policy policy, policy_of(settings.policy()));
  ECHOLINE_ASSIGN(const Resampling resampling, resampling_of(settings, program));
  return program.append(std::make_unique<RecipeOp>(
      [number, policy](const UseKey& key, const ImageSize& size) {
        return recipes::auto_augment_draw(key, number, size, policy);
      },
      resampling));
}

}  // namespace

const Transform kRandAugment{v1::Step::kRandAugment, compile_rand_augment};
const Transform kTrivialAugmentWide{v1::Step::kTrivialAugmentWide, compile_trivial_augment_wide};
const Transform kAutoAugment{v1::Step::kAutoAugment, compile_auto_augment};

}  // namespace echoline::augment
