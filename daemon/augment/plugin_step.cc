// The step plugin: a step of a library of the user, in processes of its own (user_code/). The
// plugin says which fields it returns, so one process is asked before the workers start.
#include <filesystem>
#include <utility>

#include "augment/user_code_step.h"
#include "user_code/environment.h"
#include "user_code/launch.h"

namespace echoline::augment {
namespace {

Result<user_code::Function> plugin_of(const v1::Plugin& settings, std::uint8_t number) {
  user_code::Function function;
  ECHOLINE_ASSIGN(function.interpreter, user_code::plugin_runner());
  function.file = std::filesystem::absolute(settings.library()).lexically_normal().string();
  Result<std::shared_ptr<const user_code::LibraryFile>> library =
      user_code::LibraryFile::open(function.file);
  if (!library.ok()) return std::move(library).status().with_context("plugin.library");
  function.library = std::move(*library);
  function.source = function.library->hash();
  function.name = settings.step();
  function.settings = settings.has_settings() ? settings.settings() : "{}";
  function.step = number;
  function.workers = worker_count(settings.workers());
  function.timeout_ns = settings.timeout();
  function.memory_bytes = settings.memory();
  function.sample_bytes = settings.sample_bytes();
  function.samples = kSamplesTogether;
  auto account = user_code::account_of(settings.user());
  if (!account.ok()) return std::move(account).status().with_context("plugin.user");
  function.account = std::move(*account);
  function.variables = {settings.environment().begin(), settings.environment().end()};
  return function;
}

Result<std::unique_ptr<SampleStep>> make_plugin(const v1::Step& step, std::uint8_t number,
                                                const std::vector<decode::FieldType>& inputs) {
  Result<std::vector<std::size_t>> arguments = argument_fields(step.plugin().fields(), inputs);
  if (!arguments.ok()) return std::move(arguments).status().with_context("plugin.fields");
  ECHOLINE_ASSIGN(user_code::Function function, plugin_of(step.plugin(), number));
  for (const std::size_t field : *arguments) function.inputs.push_back(inputs[field]);
  ECHOLINE_ASSIGN(function.outputs, user_code::describe(function));
  std::vector<decode::FieldType> outputs = inputs;
  std::vector<std::size_t> results;
  for (decode::FieldType& type : function.outputs) {
    take_role(inputs, type);
    ECHOLINE_ASSIGN(const std::size_t field, set_field(outputs, type));
    results.push_back(field);
  }
  limit_samples(function);
  ECHOLINE_ASSIGN(auto workers, user_code::Workers::start(std::move(function)));
  return make_user_code_step(std::move(outputs), std::move(*arguments), std::move(results),
                             std::move(workers));
}

}  // namespace

const Transform kPlugin{v1::Step::kPlugin, nullptr, make_plugin};

}  // namespace echoline::augment
