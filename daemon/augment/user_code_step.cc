#include "augment/user_code_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "augment/sample_fields.h"
#include "base/processors.h"
#include "user_code/message.h"

namespace echoline::augment {
namespace {

// More processes of one step are of no use before they are configured.
constexpr std::uint32_t kAutoWorkersMax = 16;

class UserCodeStep final : public SampleStep {
 public:
  UserCodeStep(std::vector<decode::FieldType> outputs, std::vector<std::size_t> arguments,
               std::vector<std::size_t> results, std::unique_ptr<user_code::Workers> workers)
      : outputs_(std::move(outputs)),
        arguments_(std::move(arguments)),
        results_(std::move(results)),
        workers_(std::move(workers)) {}

  const std::vector<decode::FieldType>& outputs() const override { return outputs_; }
  const user_code::Workers* workers() const override { return workers_.get(); }
  std::unique_ptr<Scratch> make_scratch() const override { return std::make_unique<Lists>(); }

  std::uint32_t several_max() const override { return workers_->function().samples; }
  bool is_batched() const override { return workers_->function().is_batched; }

  Status run(const decode::Sample& in, const UseKey& key, Scratch* scratch,
             decode::Sample& out) const override {
    Lists& lists = *static_cast<Lists*>(scratch);
    Member member{.in = &in, .key = key, .out = &out};
    fill(lists, {&member, 1});
    return workers_->run(lists.calls.front(), lists.stopping);
  }

  void run_several(std::span<Member> members, Scratch* scratch) const override {
    Lists& lists = *static_cast<Lists*>(scratch);
    fill(lists, members);
    for (std::size_t begin = 0; begin < members.size();) {
      const user_code::Progress progress =
          workers_->run_several(std::span(lists.calls).subspan(begin), lists.stopping);
      for (std::size_t i = 0; i < progress.done; ++i) members[begin + i].is_done = true;
      begin += progress.next;
    }
  }

 private:
  struct Lists final : Scratch {
    std::vector<const decode::Tensor*> arguments;  // by sample and input
    std::vector<decode::Tensor*> results;          // by sample and output
    std::vector<user_code::SampleCall> calls;
  };

  void fill(Lists& lists, std::span<Member> members) const {
    lists.arguments.clear();
    lists.results.clear();
    lists.calls.clear();
    for (const Member& member : members) {
      borrow_all(*member.in, *member.out, outputs_.size());
      for (const std::size_t field : arguments_)
        lists.arguments.push_back(&member.in->tensors[field]);
      for (const std::size_t field : results_) lists.results.push_back(&member.out->tensors[field]);
    }
    // The lists do not move any more.
    for (std::size_t i = 0; i < members.size(); ++i) {
      lists.calls.push_back(
          {.arguments =
               std::span(lists.arguments).subspan(i * arguments_.size(), arguments_.size()),
           .key = members[i].key,
           .results = std::span(lists.results).subspan(i * results_.size(), results_.size())});
    }
  }

  const std::vector<decode::FieldType> outputs_;
  const std::vector<std::size_t> arguments_;  // fields before the step, by input of the function
  const std::vector<std::size_t> results_;    // fields after the step, by its output
  const std::unique_ptr<user_code::Workers> workers_;
};

}  // namespace

void limit_samples(user_code::Function& function) {
  const std::size_t most =
      user_code::samples_in_message(function.inputs.size(), function.outputs.size());
  function.samples = std::min(function.samples, static_cast<std::uint32_t>(most));
}

std::uint32_t worker_count(std::uint32_t configured) {
  if (configured > 0) return configured;  // else auto
  return std::min(kAutoWorkersMax, usable_processors(std::thread::hardware_concurrency()));
}

Result<std::vector<std::size_t>> argument_fields(
    const google::protobuf::RepeatedPtrField<std::string>& names,
    const std::vector<decode::FieldType>& inputs) {
  std::vector<std::size_t> arguments;
  for (const std::string& name : names) {
    ECHOLINE_ASSIGN(const std::size_t field, find_field(inputs, name));
    arguments.push_back(field);
  }
  for (std::size_t i = 0; names.empty() && i < inputs.size(); ++i) arguments.push_back(i);
  for (const std::size_t field : arguments) {
    if (inputs[field].objects_max == 0) continue;
    return Status(Code::kInvalidArgument,
                  fmt::format("field {} has masks of objects, which are runs of pixels up to the "
                              "batch: name only the fields that the step needs, or put pad for {} "
                              "before it",
                              inputs[field].name, inputs[field].name));
  }
  if (arguments.size() <= user_code::kFieldsMax) return arguments;
  return Status(Code::kInvalidArgument,
                fmt::format("{} fields; allowed: {}", arguments.size(), user_code::kFieldsMax));
}

void take_role(const std::vector<decode::FieldType>& inputs, decode::FieldType& type) {
  const auto before = std::ranges::find(inputs, type.name, &decode::FieldType::name);
  if (before == inputs.end()) return;
  if (type.ragged) type.of = before->of;
  type.crops = before->crops;
  type.crop = before->crop;
  const auto inner = [](const decode::FieldType& one) { return one.shape.span().subspan(1); };
  if (before->points && type.ragged && type.dtype == before->dtype &&
      std::ranges::equal(inner(type), inner(*before))) {
    type.points = true;
    type.pairs = before->pairs;
  }
  if (before->mask && type.fixed && type.dtype == before->dtype && type.shape.rank == 2) {
    type.mask = true;
    type.ignore = before->ignore;
    type.of = before->of;
  }
}

Result<std::size_t> set_field(std::vector<decode::FieldType>& fields,
                              const decode::FieldType& type) {
  const auto found = std::ranges::find(fields, type.name, &decode::FieldType::name);
  const auto field = static_cast<std::size_t>(found - fields.begin());
  if (found == fields.end()) {
    ECHOLINE_TRY(add_field(fields, type));
  } else if (found->objects_max > 0) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("field {} has masks of objects, which only pad makes an array; choose "
                    "another name, or put pad before this step",
                    type.name));
  } else {
    *found = type;
  }
  return field;
}

std::unique_ptr<SampleStep> make_user_code_step(std::vector<decode::FieldType> outputs,
                                                std::vector<std::size_t> arguments,
                                                std::vector<std::size_t> results,
                                                std::unique_ptr<user_code::Workers> workers) {
  return std::make_unique<UserCodeStep>(std::move(outputs), std::move(arguments),
                                        std::move(results), std::move(workers));
}

}  // namespace echoline::augment
