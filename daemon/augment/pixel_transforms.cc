// The steps that do not change the size: horizontal_flip, cutout and color_jitter.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "augment/color_jitter.h"
#include "augment/parameters.h"
#include "augment/transforms.h"

namespace echoline::augment {
namespace {

class FlipOp final : public Op {
 public:
  FlipOp(double probability, std::uint8_t step) : probability_(probability), step_(step) {}

  bool keeps_place() const override { return true; }
  bool moves_points() const override { return true; }
  void move(const UseKey& key, const ImageSize& in, Mover& mover) const override {
    if (flip_drawn(key, step_, probability_)) mover.mirror(in.width);
  }
  void apply(const Work& work, Picture& picture, bool) const override {
    if (!flip_drawn(work.key, step_, probability_)) return;
    // Only the view changes; the next step that writes pixels mirrors them.
    View view = picture.view();
    view.mirrored = !view.mirrored;
    picture.set_view(view);
  }

 private:
  const double probability_;
  const std::uint8_t step_;
};

class CutoutOp final : public Op {
 public:
  CutoutOp(std::uint32_t side, std::uint8_t fill, std::uint8_t step)
      : side_(side), fill_(fill), step_(step) {}

  bool keeps_place() const override { return true; }
  void apply(const Work& work, Picture& picture, bool in_row) const override {
    std::uint8_t* pixels = picture.editable(in_row);
    const View& view = picture.view();
    const View hole =
        view.crop(cutout_box(work.key, step_, view.size.height, view.size.width, side_));
    // `hole` points into the same pixels, but a view is read-only.
    std::uint8_t* row = pixels + (hole.data - view.data);
    for (std::uint32_t y = 0; y < hole.size.height; ++y, row += hole.stride) {
      std::memset(row, fill_, hole.row_bytes());
    }
  }

 private:
  const std::uint32_t side_;
  const std::uint8_t fill_;
  const std::uint8_t step_;
};

class ColorJitterOp final : public Op {
 public:
  ColorJitterOp(const std::array<double, 4>& amounts, double probability, std::uint8_t step)
      : amounts_(amounts), probability_(probability), step_(step) {}

  bool keeps_place() const override { return true; }
  void apply(const Work& work, Picture& picture, bool in_row) const override {
    const JitterDraw draw = color_jitter_draw(work.key, step_, amounts_, probability_);
    if (!draw.changes) return;
    std::uint8_t* pixels = picture.editable(in_row);
    // All factors are drawn, also those of amount 0: otherwise a changed amount would change the
    // other draws.
    for (const Jitter kind : draw.order) {
      const auto index = static_cast<std::size_t>(kind);
      if (amounts_[index] == 0) continue;
      adjust(kind, draw.factors[index], pixels, picture.view().size.pixels(), picture.channels());
    }
  }

 private:
  const std::array<double, 4> amounts_;
  const double probability_;
  const std::uint8_t step_;
};

Status out_of_range(const char* name, double value, const char* allowed) {
  return {Code::kInvalidArgument, fmt::format("{} is {}; {} is allowed", name, value, allowed)};
}

Status compile_horizontal_flip(const v1::Step& step, std::uint8_t number, FieldProgram& program) {
  ECHOLINE_ASSIGN(const double probability,
                  checked_probability(step.horizontal_flip().probability()));
  // A resize before the flip does both in one pass.
  if (program.fuse_flip(number, probability)) return {};
  return program.append(std::make_unique<FlipOp>(probability, number));
}

Status compile_cutout(const v1::Step& step, std::uint8_t number, FieldProgram& program) {
  const v1::Cutout& settings = step.cutout();
  if (settings.size() < 1 || settings.size() > 65535)
    return out_of_range("size", settings.size(), "1 to 65535");
  if (settings.fill() > 255) return out_of_range("fill", settings.fill(), "0 to 255");
  return program.append(std::make_unique<CutoutOp>(
      settings.size(), static_cast<std::uint8_t>(settings.fill()), number));
}

Status compile_color_jitter(const v1::Step& step, std::uint8_t number, FieldProgram& program) {
  const v1::ColorJitter& settings = step.color_jitter();
  const std::pair<const char*, double> parts[] = {{"brightness", settings.brightness()},
                                                  {"contrast", settings.contrast()},
                                                  {"saturation", settings.saturation()}};
  for (const auto& [name, value] : parts) {
    if (!(value >= 0 && value <= 1000)) return out_of_range(name, value, "0 to 1000");
  }
  if (!(settings.hue() >= 0 && settings.hue() <= 0.5))
    return out_of_range("hue", settings.hue(), "0 to 0.5");
  const std::array<double, 4> amounts{settings.brightness(), settings.contrast(),
                                      settings.saturation(), settings.hue()};
  ECHOLINE_ASSIGN(const double probability, probability_of(settings, 1));
  return program.append(std::make_unique<ColorJitterOp>(amounts, probability, number));
}

}  // namespace

const Transform kHorizontalFlip{v1::Step::kHorizontalFlip, compile_horizontal_flip};
const Transform kCutout{v1::Step::kCutout, compile_cutout};
const Transform kColorJitter{v1::Step::kColorJitter, compile_color_jitter};

}  // namespace echoline::augment
