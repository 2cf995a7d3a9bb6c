// The step gaussian_blur.
#include <fmt/format.h>

#include "augment/apply_change.h"
#include "augment/parameters.h"
#include "augment/transforms.h"
#include "recipes/neighbours.h"

namespace echoline::augment {
namespace {

class BlurOp final : public Op {
 public:
  BlurOp(std::uint32_t size, const Range& sigma, double probability, std::uint8_t step)
      : size_(size), sigma_(sigma), probability_(probability), step_(step) {}

  void apply(const Work& work, Picture& picture, bool in_row) const override {
    const auto sigma = blur_sigma(work.key, step_, probability_, sigma_);
    if (!sigma) return;
    const recipes::Pixels source = picture.unmirrored();
    const ImageSize size = picture.size();
    std::uint8_t* room = picture.room(size, in_row);
    recipes::gaussian_blur(source, size_, *sigma, work.lines, room);
    picture.take(room, size, false);
  }

 private:
  const std::uint32_t size_;
  const Range sigma_;
  const double probability_;
  const std::uint8_t step_;
};

Status compile_gaussian_blur(const v1::Step& step, std::uint8_t number, FieldProgram& program) {
  const v1::GaussianBlur& settings = step.gaussian_blur();
  const std::uint32_t size = settings.size();
  if (size % 2 == 0 || size > recipes::kBlurSizeMax) {
    return {Code::kInvalidArgument,
            fmt::format("size is {}; an odd number of at most {} is allowed", size,
                        recipes::kBlurSizeMax)};
  }
  ECHOLINE_ASSIGN(const Range sigma, range_of(settings.sigma(), "sigma", {0.1, 2.0}));
  ECHOLINE_ASSIGN(const double probability, probability_of(settings, 1));
  return program.append(std::make_unique<BlurOp>(size, sigma, probability, number));
}

}  // namespace

const Transform kGaussianBlur{v1::Step::kGaussianBlur, compile_gaussian_blur};

}  // namespace echoline::augment
