// The steps that keep the size: horizontal_flip, cutout and color_jitter.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "augment/color_jitter.h"
#include "augment/ops.h"
#include "echoline/v1/config.pb.h"

namespace echoline::augment {
namespace {

class FlipOp final : public Op {
 public:
  FlipOp(double probability, std::uint8_t step) : probability_(probability), step_(step) {}

  bool keeps_place() const override { return true; }
  void apply(const Work& work, Picture& picture, bool) const override {
    if (!flip_drawn(work.key, step_, probability_)) return;
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
  ColorJitterOp(const std::array<double, 4>& amounts, std::uint8_t step)
      : amounts_(amounts), step_(step) {}

  bool keeps_place() const override { return true; }
  void apply(const Work& work, Picture& picture, bool in_row) const override {
    std::uint8_t* pixels = picture.editable(in_row);
    const JitterDraw draw = color_jitter_draw(work.key, step_, amounts_);
    for (const Jitter kind : draw.order) {
      const auto index = static_cast<std::size_t>(kind);
      if (amounts_[index] > 0) adjust(kind, draw.factors[index], picture.view(), pixels);
    }
  }

 private:
  static void adjust(Jitter kind, double factor, const View& view, std::uint8_t* pixels) {
    const std::size_t count = view.size.pixels();
    const auto share = static_cast<float>(factor);
    switch (kind) {
      case Jitter::kBrightness:
        return adjust_brightness(pixels, count * view.channels, share);
      case Jitter::kContrast:
        return adjust_contrast(pixels, count, view.channels, share);
      case Jitter::kSaturation:
        return adjust_saturation(pixels, count, view.channels, share);
      case Jitter::kHue:
        return adjust_hue(pixels, count, view.channels, factor);
    }
  }

  const std::array<double, 4> amounts_;
  const std::uint8_t step_;
};

Status out_of_range(const char* name, double value, const char* allowed) {
  return {Code::kInvalidArgument, fmt::format("{} is {}; {} is allowed", name, value, allowed)};
}

}  // namespace

OpResult make_op(const v1::HorizontalFlip& step, std::uint8_t number) {
  const double probability = step.probability();
  if (!(probability >= 0 && probability <= 1)) {
    return out_of_range("probability", probability, "0 to 1");
  }
  return std::unique_ptr<Op>(new FlipOp(probability, number));
}

OpResult make_op(const v1::Cutout& step, std::uint8_t number) {
  if (step.size() < 1 || step.size() > 65535)
    return out_of_range("size", step.size(), "1 to 65535");
  if (step.fill() > 255) return out_of_range("fill", step.fill(), "0 to 255");
  return std::unique_ptr<Op>(
      new CutoutOp(step.size(), static_cast<std::uint8_t>(step.fill()), number));
}

OpResult make_op(const v1::ColorJitter& step, std::uint8_t number) {
  const std::pair<const char*, double> parts[] = {{"brightness", step.brightness()},
                                                  {"contrast", step.contrast()},
                                                  {"saturation", step.saturation()}};
  for (const auto& [name, value] : parts) {
    if (!(value >= 0 && value <= 1000)) return out_of_range(name, value, "0 to 1000");
  }
  if (!(step.hue() >= 0 && step.hue() <= 0.5)) return out_of_range("hue", step.hue(), "0 to 0.5");
  const std::array<double, 4> amounts{step.brightness(), step.contrast(), step.saturation(),
                                      step.hue()};
  return std::unique_ptr<Op>(new ColorJitterOp(amounts, number));
}

}  // namespace echoline::augment
