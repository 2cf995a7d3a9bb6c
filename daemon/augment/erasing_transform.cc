// The step random_erasing.
#include <cstring>

#include "augment/parameters.h"
#include "augment/transforms.h"

namespace echoline::augment {
namespace {

using Fill = std::array<std::uint8_t, 3>;

struct Erasing {
  double probability = 0.5;
  Range scale{};
  Range ratio{};
  Fill fill{};
};

class ErasingOp final : public Op {
 public:
  ErasingOp(const Erasing& settings, std::uint8_t step) : settings_(settings), step_(step) {}

  bool keeps_place() const override { return true; }
  void apply(const Work& work, Picture& picture, bool in_row) const override {
    const ImageSize size = picture.size();
    const auto box = erased_box(work.key, step_, size.height, size.width, settings_.probability,
                                settings_.scale, settings_.ratio);
    if (!box) return;
    std::uint8_t* pixels = picture.editable(in_row);
    const View& view = picture.view();
    const View hole = view.crop(*box);
    // `hole` points into the same pixels, but a view is read-only.
    std::uint8_t* row = pixels + (hole.data - view.data);
    for (std::uint32_t y = 0; y < hole.size.height; ++y, row += hole.stride) fill_row(hole, row);
  }

 private:
  void fill_row(const View& hole, std::uint8_t* row) const {
    if (hole.channels == 1) {
      std::memset(row, settings_.fill[0], hole.row_bytes());
      return;
    }
    for (std::uint32_t x = 0; x < hole.size.width; ++x, row += 3) {
      std::memcpy(row, settings_.fill.data(), 3);
    }
  }

  const Erasing settings_;
  const std::uint8_t step_;
};

Status compile_random_erasing(const v1::Step& step, std::uint8_t number, FieldProgram& program) {
  const v1::RandomErasing& settings = step.random_erasing();
  Erasing erasing;
  ECHOLINE_ASSIGN(erasing.probability, probability_of(settings, 0.5));
  ECHOLINE_ASSIGN(erasing.scale, range_within(settings.scale(), "scale", {0.02, 0.33}, {0, 1}));
  ECHOLINE_ASSIGN(erasing.ratio, range_of(settings.ratio(), "ratio", {0.3, 3.3}));
  ECHOLINE_ASSIGN(erasing.fill, fill_of(settings.fill(), program.input.shape.sizes[2]));
  return program.append(std::make_unique<ErasingOp>(erasing, number));
}

}  // namespace

const Transform kRandomErasing{v1::Step::kRandomErasing, compile_random_erasing};

}  // namespace echoline::augment
