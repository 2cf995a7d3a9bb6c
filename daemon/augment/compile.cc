#include "augment/compile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "augment/box_group.h"
#include "augment/sample_fields.h"
#include "augment/transforms.h"
#include "base/check.h"

namespace echoline::augment {
namespace {

// What the programs start from.
std::vector<decode::FieldType> inputs_of(const std::vector<FieldProgram>& programs) {
  std::vector<decode::FieldType> inputs;
  for (const FieldProgram& program : programs) inputs.push_back(program.input);
  return inputs;
}

// The fields that a step on `name` changes: this one, or the crops of multi_crop with this name.
Result<std::vector<std::size_t>> fields_of(const std::vector<FieldProgram>& programs,
                                           const std::string& name) {
  std::vector<std::size_t> fields;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    if (!name.empty() && programs[i].input.crops == name) fields.push_back(i);
  }
  if (!fields.empty()) return fields;
  ECHOLINE_ASSIGN(const std::size_t field, find_field(inputs_of(programs), name));
  return std::vector{field};
}

// The program of an image field, which must still be an image.
Result<FieldProgram*> image_field(std::vector<FieldProgram>& programs, std::size_t field) {
  FieldProgram* const found = &programs[field];
  const std::string& name = found->input.name;
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
  return found;
}

// Whether a step has a number. Random draws depend on this number, so the steps that only move data
// have none: adding or moving them changes no pixel.
bool is_numbered(const v1::Step& step) {
  switch (step.step_case()) {
    case v1::Step::kRead:
      return step.read().has_python();  // makes the samples
    case v1::Step::kMix:
    case v1::Step::kCache:
    case v1::Step::kEcho:
    case v1::Step::kBatch:
    case v1::Step::kPublish:
    case v1::Step::kPrepare:
      return false;
    default:
      return true;
  }
}

// The step's key in the configuration and its settings, both from the schema.
std::string step_name(const v1::Step& step) {
  const auto* field = v1::Step::descriptor()->FindFieldByNumber(step.step_case());
  return field == nullptr ? "empty" : field->name();
}

const google::protobuf::Message& settings_of(const v1::Step& step) {
  const auto* field = v1::Step::descriptor()->FindFieldByNumber(step.step_case());
  return step.GetReflection()->GetMessage(step, field);
}

// Every transform has the setting `field`.
std::string field_name_of(const v1::Step& step) {
  const google::protobuf::Message& settings = settings_of(step);
  const auto* key = settings.GetDescriptor()->FindFieldByName("field");
  ECHOLINE_CHECK(key != nullptr);
  return settings.GetReflection()->GetString(settings, key);
}

Status add_to_program(const Transform& transform, const v1::Step& step, std::uint8_t number,
                      const std::string& context, std::size_t field,
                      std::vector<FieldProgram>& programs) {
  ECHOLINE_ASSIGN(FieldProgram * program, image_field(programs, field));
  const std::string& name = program->input.name;
  const std::size_t before = program->instructions.size();
  ECHOLINE_TRY(transform.compile(step, number, *program));
  for (std::size_t i = before; i < program->instructions.size(); ++i) {
    program->instructions[i].context = fmt::format("field {}: {}", name, context);
    program->instructions[i].step = fmt::format("{} {}", step_name(step), name);
  }
  if (program->normalizer) program->normalize_step = "normalize " + name;
  return program->moves_points() ? check_followers(inputs_of(programs), name) : Status();
}

bool has_prepare(const v1::Stream& stream) {
  return std::ranges::any_of(stream.pipeline(), &v1::Step::has_prepare);
}

// Collects image operations in one program per field, until a step on whole samples or an echo
// between the steps ends the stage.
class ChainBuilder {
 public:
  explicit ChainBuilder(const std::vector<decode::FieldType>& inputs) { begin_programs(inputs); }

  // The step `prepare` comes here: servers may run the steps before it.
  void prepare() {
    end_programs();
    prepared_stages_ = stages_.size();
  }
  // The echo comes here: steps before it are shared by all uses, if other steps follow.
  void echo() { echo_is_pending_ = has_steps_; }

  Status add(const Transform& transform, const v1::Step& step, std::uint8_t number,
             const std::string& context) {
    if (std::exchange(echo_is_pending_, false)) {
      // Without image operations since the last step on samples, its stage already ends here.
      end_programs();
      shared_stages_ = stages_.size();
    }
    has_steps_ = true;
    if (transform.compile != nullptr) {
      programs_changed_ = true;
      ECHOLINE_ASSIGN(const std::vector<std::size_t> fields,
                      fields_of(programs_, field_name_of(step)));
      for (const std::size_t field : fields) {
        ECHOLINE_TRY(add_to_program(transform, step, number, context, field, programs_));
      }
      return {};
    }
    FieldPrograms programs = take_programs();
    ECHOLINE_ASSIGN(std::unique_ptr<SampleStep> made,
                    transform.make(step, number, programs.outputs()));
    add_stage({std::move(programs), std::move(made), context, step_name(step)});
    return {};
  }

  ChainParts finish() {
    const std::size_t shared = std::max(prepared_stages_, shared_stages_);
    FieldPrograms last = take_programs();
    last.draw_objects();
    return {std::move(stages_), prepared_stages_, shared, std::move(last)};
  }

 private:
  void begin_programs(const std::vector<decode::FieldType>& inputs) {
    programs_.clear();
    for (const decode::FieldType& input : inputs) programs_.emplace_back().input = input;
    programs_changed_ = false;
  }

  FieldPrograms take_programs() {
    for (FieldProgram& program : programs_) program.mark_rows();
    return FieldPrograms(std::move(programs_));
  }

  // A stage without a step, if there are operations.
  void end_programs() {
    if (programs_changed_) add_stage({take_programs(), nullptr, {}, {}});
  }

  void add_stage(Stage stage) {
    stages_.push_back(std::move(stage));
    begin_programs(stages_.back().outputs());
  }

  std::vector<Stage> stages_;
  std::size_t prepared_stages_ = 0;
  std::size_t shared_stages_ = 0;
  std::vector<FieldProgram> programs_;
  bool programs_changed_ = false;  // since the last stage
  bool has_steps_ = false;
  bool echo_is_pending_ = false;
};

}  // namespace

Result<ChainParts> compile_steps(const v1::Stream& stream,
                                 const std::vector<decode::FieldType>& inputs) {
  ChainBuilder builder(inputs);
  std::uint32_t number = 0;
  bool before_prepare = has_prepare(stream);
  for (int i = 0; i < stream.pipeline_size(); ++i) {
    const v1::Step& step = stream.pipeline(i);
    if (step.has_echo()) builder.echo();
    if (step.has_prepare()) {
      builder.prepare();
      before_prepare = false;
    }
    if (!is_numbered(step)) continue;
    if (number > 255) {
      return Status(Code::kInvalidArgument, "the pipeline has more than 256 numbered steps");
    }
    const auto own_number = static_cast<std::uint8_t>(number++);
    const Transform* transform =
        step.has_read() ? &kPythonDataSet : find_transform(step.step_case());
    if (transform == nullptr) continue;  // shuffle and decode have a number, but no transform
    const std::string context = fmt::format("pipeline step {} ({})", i + 1, step_name(step));
    if (before_prepare && !transform->is_pure) {
      return Status(Code::kInvalidArgument,
                    fmt::format("{}: draws at random or runs your code, which only the host does; "
                                "place it after 'prepare'",
                                context));
    }
    ECHOLINE_TRY(builder.add(*transform, step, own_number, context).with_context(context));
  }
  return builder.finish();
}

}  // namespace echoline::augment
