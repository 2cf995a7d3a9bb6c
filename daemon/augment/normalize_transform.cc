// The step normalize: always the last one of its field.
#include "augment/normalizer.h"
#include "augment/transforms.h"

namespace echoline::augment {
namespace {

Status compile_normalize(const v1::Step& step, std::uint8_t, FieldProgram& program) {
  const std::uint32_t channels = program.input.shape.sizes[2];
  ECHOLINE_ASSIGN(program.normalizer, Normalizer::compile(step.normalize(), channels));
  return {};
}

}  // namespace

const Transform kNormalize{
    .step = v1::Step::kNormalize, .compile = compile_normalize, .is_pure = true};

}  // namespace echoline::augment
