// The steps that make one change with a probability: grayscale, solarize, posterize, invert,
// equalize, autocontrast and adjust_sharpness.
#include <fmt/format.h>

#include "augment/apply_change.h"
#include "augment/parameters.h"
#include "augment/transforms.h"

namespace echoline::augment {
namespace {

using recipes::Change;
using recipes::Operation;

class ChanceOp final : public Op {
 public:
  ChanceOp(const Change& change, double probability, std::uint8_t step)
      : change_(change), probability_(probability), step_(step) {}

  // A sharper picture needs memory of its own.
  bool keeps_place() const override { return change_.operation != Operation::kSharpness; }
  void apply(const Work& work, Picture& picture, bool in_row) const override {
    SampleRandom random(work.key, step_);
    if (chance_drawn(random, probability_)) apply_change(change_, {}, picture, in_row);
  }

 private:
  const Change change_;
  const double probability_;
  const std::uint8_t step_;
};

template <typename Settings>
Status append_change(const Change& change, const Settings& settings, double probability,
                     std::uint8_t number, FieldProgram& program) {
  ECHOLINE_ASSIGN(const double chance, probability_of(settings, probability));
  return program.append(std::make_unique<ChanceOp>(change, chance, number));
}

Status compile_grayscale(const v1::Step& step, std::uint8_t number, FieldProgram& program) {
  return append_change({Operation::kGrayscale}, step.grayscale(), 0.1, number, program);
}

Status compile_solarize(const v1::Step& step, std::uint8_t number, FieldProgram& program) {
  const v1::Solarize& settings = step.solarize();
  const double threshold = settings.has_threshold() ? settings.threshold() : 128;
  if (!(threshold >= 0 && threshold <= 256)) {
    return {Code::kInvalidArgument, fmt::format("threshold is {}; 0 to 256 is allowed", threshold)};
  }
  return append_change({Operation::kSolarize, threshold}, settings, 0.5, number, program);
}

Status compile_posterize(const v1::Step& step, std::uint8_t number, FieldProgram& program) {
  const v1::Posterize& settings = step.posterize();
  if (settings.bits() > 8) {
    return {Code::kInvalidArgument, fmt::format("bits is {}; 0 to 8 is allowed", settings.bits())};
  }
  const Change change{Operation::kPosterize, static_cast<double>(settings.bits())};
  return append_change(change, settings, 0.5, number, program);
}

Status compile_invert(const v1::Step& step, std::uint8_t number, FieldProgram& program) {
  return append_change({Operation::kInvert}, step.invert(), 0.5, number, program);
}

Status compile_equalize(const v1::Step& step, std::uint8_t number, FieldProgram& program) {
  return append_change({Operation::kEqualize}, step.equalize(), 0.5, number, program);
}

Status compile_autocontrast(const v1::Step& step, std::uint8_t number, FieldProgram& program) {
  return append_change({Operation::kAutoContrast}, step.autocontrast(), 0.5, number, program);
}

Status compile_adjust_sharpness(const v1::Step& step, std::uint8_t number, FieldProgram& program) {
  const v1::AdjustSharpness& settings = step.adjust_sharpness();
  if (!(settings.factor() >= 0 && settings.factor() <= 1000)) {
    return {Code::kInvalidArgument,
            fmt::format("factor is {}; 0 to 1000 is allowed", settings.factor())};
  }
  return append_change({Operation::kSharpness, settings.factor()}, settings, 0.5, number, program);
}

}  // namespace

const Transform kGrayscale{v1::Step::kGrayscale, compile_grayscale};
const Transform kSolarize{v1::Step::kSolarize, compile_solarize};
const Transform kPosterize{v1::Step::kPosterize, compile_posterize};
const Transform kInvert{v1::Step::kInvert, compile_invert};
const Transform kEqualize{v1::Step::kEqualize, compile_equalize};
const Transform kAutocontrast{v1::Step::kAutocontrast, compile_autocontrast};
const Transform kAdjustSharpness{v1::Step::kAdjustSharpness, compile_adjust_sharpness};

}  // namespace echoline::augment
