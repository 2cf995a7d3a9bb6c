#include "augment/program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "augment/ops.h"
#include "echoline/v1/config.pb.h"

namespace echoline::augment {
namespace {

std::string names_of(const std::vector<FieldProgram>& fields) {
  std::string names;
  for (const FieldProgram& field : fields) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", field.input.name);
  }
  return names;
}

// The field that an image step works on.
Result<FieldProgram*> image_field(std::vector<FieldProgram>& fields, const std::string& name) {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const FieldProgram& field) {
    return field.input.name == name;
  });
  if (found == fields.end()) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("field \"{}\" is not decoded; decoded are: {}", name, names_of(fields)));
  }
  if (!found->input.image) {
    return Status(
        Code::kInvalidArgument,
        fmt::format(
            "field {} is no image: an image is uint8 [height, width, 1 or 3], this is {} [{}]",
            name, shm::dtype_name(found->input.dtype), fmt::join(found->input.shape.span(), ", ")));
  }
  if (found->normalizer) {
    return Status(Code::kInvalidArgument,
                  fmt::format("field {} is {} since normalize, which has to be its last step", name,
                              shm::dtype_name(found->normalizer->dtype())));
  }
  return &*found;
}

// Draws of a step are counted by its place among the steps that make pixels or order: moving the
// others changes no pixel.
bool is_numbered(v1::Step::StepCase step) {
  switch (step) {
    case v1::Step::kRead:
    case v1::Step::kCache:
    case v1::Step::kEcho:
    case v1::Step::kBatch:
    case v1::Step::kPublish:
      return false;
    default:
      return true;
  }
}

class Compiler {
 public:
  explicit Compiler(const std::vector<decode::FieldType>& inputs) {
    for (const decode::FieldType& input : inputs) fields_.emplace_back().input = input;
  }

  Status add(const v1::Step& step, std::uint8_t number, const std::string& context) {
    Status status = dispatch(step, number, context);
    return status.ok() ? status : std::move(status).with_context(context);
  }

  std::vector<FieldProgram> finish() {
    for (FieldProgram& field : fields_) mark_rows(field);
    return std::move(fields_);
  }

 private:
  Status dispatch(const v1::Step& step, std::uint8_t number, const std::string& context) {
    switch (step.step_case()) {
      case v1::Step::kResize:
        return append(step.resize(), number, context);
      case v1::Step::kCenterCrop:
        return append(step.center_crop(), number, context);
      case v1::Step::kRandomResizedCrop:
        return append(step.random_resized_crop(), number, context);
      case v1::Step::kRandomCrop:
        return append(step.random_crop(), number, context);
      case v1::Step::kHorizontalFlip:
        return flip(step.horizontal_flip(), number, context);
      case v1::Step::kCutout:
        return append(step.cutout(), number, context);
      case v1::Step::kColorJitter:
        return append(step.color_jitter(), number, context);
      case v1::Step::kNormalize:
        return normalize(step.normalize());
      default:
        return {};
    }
  }

  template <typename StepMessage>
  Status append(const StepMessage& step, std::uint8_t number, const std::string& context) {
    ECHOLINE_ASSIGN(FieldProgram * field, image_field(fields_, step.field()));
    ECHOLINE_ASSIGN(std::unique_ptr<Op> op, make_op(step, number));
    const decode::FieldType before = field->output();
    if (before.fixed) {
      // A step that cannot work on any sample is an error now.
      ECHOLINE_TRY(op->size_after({before.shape.sizes[0], before.shape.sizes[1]}).status());
    }
    field->instructions.push_back(
        {std::move(op), fmt::format("field {}: {}", step.field(), context)});
    return {};
  }

  Status flip(const v1::HorizontalFlip& step, std::uint8_t number, const std::string& context) {
    ECHOLINE_ASSIGN(FieldProgram * field, image_field(fields_, step.field()));
    ECHOLINE_TRY(make_op(step, number).status());
    if (!field->instructions.empty() &&
        field->instructions.back().op->fuse_flip(number, step.probability())) {
      return {};
    }
    return append(step, number, context);
  }

  Status normalize(const v1::Normalize& step) {
    ECHOLINE_ASSIGN(FieldProgram * field, image_field(fields_, step.field()));
    ECHOLINE_ASSIGN(field->normalizer, Normalizer::compile(step, field->input.shape.sizes[2]));
    return {};
  }

  // New pixels go into the row when all later steps leave them in their place.
  static void mark_rows(FieldProgram& field) {
    bool stays = !field.normalizer;
    for (auto at = field.instructions.rbegin(); at != field.instructions.rend(); ++at) {
      at->in_row = stays;
      stays = stays && at->op->keeps_place();
    }
  }

  std::vector<FieldProgram> fields_;
};

// "random_resized_crop": the key in the file, from the schema.
std::string step_name(const v1::Step& step) {
  const auto* field = v1::Step::descriptor()->FindFieldByNumber(step.step_case());
  return field == nullptr ? "empty" : field->name();
}

}  // namespace

decode::FieldType FieldProgram::output() const {
  decode::FieldType type = input;
  if (!touched()) return type;
  std::optional<ImageSize> size;
  if (input.fixed) size = ImageSize{input.shape.sizes[0], input.shape.sizes[1]};
  for (const Instruction& instruction : instructions) {
    if (const auto fixed = instruction.op->fixed_size()) {
      size = fixed;
    } else if (size) {
      const Result<ImageSize> after = instruction.op->size_after(*size);
      size = after.ok() ? std::optional(after.value()) : std::nullopt;
    }
  }
  type.fixed = size.has_value();
  type.shape = shape_of(size.value_or(ImageSize{}));
  type.image = !normalizer;
  if (normalizer) type.dtype = normalizer->dtype();
  return type;
}

Result<ImageSize> FieldProgram::size_after(ImageSize size) const {
  for (const Instruction& instruction : instructions) {
    Result<ImageSize> after = instruction.op->size_after(size);
    if (!after.ok()) return after.status().with_context(instruction.context);
    size = after.value();
  }
  return size;
}

decode::Shape FieldProgram::shape_of(const ImageSize& size) const {
  if (normalizer) return normalizer->shape(size);
  return {{size.height, size.width, input.shape.sizes[2]}, 3};
}

Result<std::vector<FieldProgram>> compile_program(const v1::Stream& stream,
                                                  const std::vector<decode::FieldType>& inputs) {
  Compiler compiler(inputs);
  std::uint32_t number = 0;
  for (int i = 0; i < stream.pipeline_size(); ++i) {
    const v1::Step& step = stream.pipeline(i);
    if (!is_numbered(step.step_case())) continue;
    if (number > 255) {
      return Status(Code::kInvalidArgument, "the pipeline has more than 256 numbered steps");
    }
    ECHOLINE_TRY(compiler.add(step, static_cast<std::uint8_t>(number++),
                              fmt::format("pipeline step {} ({})", i + 1, step_name(step))));
  }
  return compiler.finish();
}

}  // namespace echoline::augment
