// bash splits "--join=start" into three words, other shells do not; both forms are understood.
#include "cli/completion.h"

#include <algorithm>
#include <iterator>

#include "config/names.h"

namespace echoline::cli {
namespace {

// What the words before the one that is being typed have set.
struct LineState {
  const CLI::App* command = nullptr;    // null: the next word is a command's name
  const CLI::Option* option = nullptr;  // the next word is its value
  std::size_t positionals = 0;          // of the command, so far
  bool only_positionals = false;        // after "--"
  std::vector<const CLI::Option*> used;
  std::string runtime_dir;
};

bool is_flag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

const CLI::Option* find_option(const CLI::App& app, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  for (const CLI::Option* option : app.get_options()) {
    if (name.size() > 1 && name.starts_with('-') && option->check_name(name)) return option;
  }
  return nullptr;
}

const CLI::App* find_command(const CLI::App& app, const std::string& word) {
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == word) return command;
  }
  return nullptr;
}

// Updates the state with one complete word.
void pass_word(const CLI::App& app, const std::string& word, LineState& state) {
  const CLI::App& command = state.command == nullptr ? app : *state.command;
  if (state.option != nullptr) {
    if (word == "=") return;
    if (state.option->check_name("--runtime-dir")) state.runtime_dir = word;
    state.option = nullptr;
  } else if (word == "--") {
    state.only_positionals = true;
  } else if (word.starts_with('-') && !state.only_positionals) {
    const CLI::Option* option = find_option(command, word);
    if (option == nullptr) return;
    state.used.push_back(option);
    const std::size_t sign = word.find('=');
    if (!is_flag(*option)) state.option = option;
    if (sign != std::string::npos) pass_word(app, word.substr(sign + 1), state);
  } else if (state.command == nullptr) {
    state.command = find_command(app, word);
  } else {
    ++state.positionals;
  }
}

// CLI11 appends the allowed values to the type's name: "{start,current,next_epoch}".
std::vector<std::string> values_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}', open);
  if (close == std::string::npos) return {};
  std::string list = type.substr(open + 1, close - open - 1);
  std::replace(list.begin(), list.end(), ',', '|');
  return config::split_names(list);
}

Completion value_of(const CLI::Option& option, const LineState& state,
                    const StreamNames& stream_names) {
  const std::string type = option.get_type_name();
  // A positional's name shows its kind: FILE, FILE|URL, INPUT or STREAM.
  const std::string name = option.get_positional() ? option.get_name(true) : "";
  Completion completion;
  if (type == kFileType || name.starts_with("FILE") || name == "INPUT") {
    completion.kind = Completion::Kind::kFiles;
    return completion;
  }
  if (type == kFolderType) {
    completion.kind = Completion::Kind::kFolders;
    return completion;
  }
  const bool stream = name == "STREAM";
  for (const std::string& value : stream ? stream_names(state.runtime_dir) : values_of(option)) {
    completion.words.push_back({value, ""});
  }
  return completion;
}

Completion commands_of(const CLI::App& app) {
  Completion completion;
  for (const CLI::App* command : app.get_subcommands({})) {
    completion.words.push_back({command->get_name(), command->get_description()});
  }
  return completion;
}

// The long names of the options that can still be given.
Completion options_of(const CLI::App& app, const LineState& state) {
  Completion completion;
  for (const CLI::Option* option : app.get_options()) {
    const bool used = std::find(state.used.begin(), state.used.end(), option) != state.used.end();
    if (option->get_lnames().empty() || (used && option->get_items_expected_max() <= 1)) continue;
    completion.words.push_back({"--" + option->get_lnames().front(), option->get_description()});
  }
  return completion;
}

Completion positional_of(const LineState& state, const StreamNames& stream_names) {
  std::vector<const CLI::Option*> positionals;
  for (const CLI::Option* option : state.command->get_options()) {
    if (option->get_positional()) positionals.push_back(option);
  }
  if (positionals.empty()) return {};
  const std::size_t last = positionals.size() - 1;
  const bool more = state.positionals <= last || positionals[last]->get_items_expected_max() > 1;
  return more ? value_of(*positionals[std::min(state.positionals, last)], state, stream_names)
              : Completion();
}

void keep_matches(Completion& completion, const std::string& prefix) {
  std::erase_if(completion.words,
                [&prefix](const Completion::Word& word) { return !word.text.starts_with(prefix); });
}

}  // namespace

Completion complete(const CLI::App& app, const std::vector<std::string>& words,
                    const StreamNames& stream_names) {
  LineState state;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) pass_word(app, words[i], state);
  const std::string typed = words.empty() ? "" : words.back();
  const CLI::App& command = state.command == nullptr ? app : *state.command;
  if (state.option != nullptr) {
    Completion completion = value_of(*state.option, state, stream_names);
    keep_matches(completion, typed == "=" ? "" : typed);
    return completion;
  }
  const std::size_t sign = typed.find('=');
  const bool option = typed.starts_with('-') && !state.only_positionals;
  const CLI::Option* named = option ? find_option(command, typed) : nullptr;
  Completion completion;
  if (named != nullptr && sign != std::string::npos) {
    completion = value_of(*named, state, stream_names);
    for (Completion::Word& word : completion.words) word.text.insert(0, typed, 0, sign + 1);
  } else if (option) {
    completion = options_of(command, state);
  } else {
    completion = state.command == nullptr ? commands_of(app) : positional_of(state, stream_names);
  }
  keep_matches(completion, typed);
  return completion;
}

std::string completion_text(const Completion& completion) {
  constexpr const char* kKinds[] = {"words", "files", "folders"};
  std::string text = std::string(kKinds[static_cast<std::size_t>(completion.kind)]) + "\n";
  for (const Completion::Word& word : completion.words) text += word.text + "\t" + word.what + "\n";
  return text;
}

}  // namespace echoline::cli
