// For an unknown command, CLI11 only prints "A subcommand is required"; this text names it.
#include "cli/usage.h"

#include <fmt/core.h>

#include <algorithm>

#include "config/names.h"

namespace echoline::cli {
namespace {

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string no_command(const CLI::App& app, const std::vector<std::string>& arguments) {
  if (arguments.empty()) return fmt::format("echoline: which command?\n\n{}", app.help());
  const std::string& written = arguments.front();
  const bool option = written.starts_with('-');
  const std::vector<std::string> known = option ? option_names(app) : command_names(app);
  return fmt::format(
      "echoline: there is no {} '{}'; commands: {}{}\n'echoline --help' explains them\n",
      option ? "option" : "command", written, config::join_names(command_names(app)),
      config::did_you_mean(written, known));
}

}  // namespace

std::string usage_error(const CLI::App& app, const CLI::ParseError& error,
                        const std::vector<std::string>& arguments) {
  const std::vector<CLI::App*> called = app.get_subcommands();
  if (called.empty()) return no_command(app, arguments);
  const CLI::App& command = *called.front();
  std::string what = error.what();
  for (const std::string& extra : command.remaining()) {
    if (extra.starts_with("--")) what += config::did_you_mean(extra, option_names(command));
  }
  return fmt::format("echoline {}: {}\n'echoline {} --help' says what it takes\n",
                     command.get_name(), what, command.get_name());
}

}  // namespace echoline::cli
