#include "source/credentials/command_line.h"

namespace echoline::source {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

Status unfinished() {
  return Status(Code::kInvalidArgument, "its command line ends within quotes or after a backslash");
}

// Reads one word; `at` is its first character before, and behind its last one after.
// As in a POSIX shell: quotes can begin and end within a word.
Result<std::string> next_word(std::string_view line, std::size_t& at) {
  std::string word;
  char quote = 0;
  for (; at < line.size(); ++at) {
    const char c = line[at];
    // Outside of quotes, a space ends the word.
    if (quote == 0 && kSpace.find(c) != std::string_view::npos) return word;
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
      // Single quotes keep everything up to the next one, backslashes included.
    } else if (c == '\\' && quote != '\'') {
      if (++at == line.size()) return unfinished();
      // Within double quotes, a backslash is an ordinary character, except before a quote or a
      // backslash.
      if (quote == '"' && line[at] != '"' && line[at] != '\\') word += c;
      word += line[at];
    } else {
      word += c;
    }
  }
  if (quote != 0) return unfinished();
  return word;
}

}  // namespace

Result<std::vector<std::string>> split_command_line(std::string_view line) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while ((at = line.find_first_not_of(kSpace, at)) != std::string_view::npos) {
    ECHOLINE_ASSIGN(std::string word, next_word(line, at));
    words.push_back(std::move(word));
  }
  // "" as the program's name is no program.
  if (words.empty() || words.front().empty())
    return Status(Code::kInvalidArgument, "its command line names no program");
  return words;
}

}  // namespace echoline::source
