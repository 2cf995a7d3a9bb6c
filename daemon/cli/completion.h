// Shell completion: the words that can follow on a command line, derived from the definition that
// parses it. Pure functions, except that `stream_names` may ask the daemon.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace echoline::cli {

// Type names of options whose value is a path; the help shows them too.
inline constexpr const char* kFileType = "FILE";
inline constexpr const char* kFolderType = "DIR";

struct Completion {
  enum class Kind : std::uint8_t { kWords, kFiles, kFolders };
  struct Word {
    std::string text;
    std::string what;  // its description; may be empty
  };
  Kind kind = Kind::kWords;
  std::vector<Word> words;  // for kWords only
};

// The names of a daemon's streams; empty if no daemon runs. `runtime_dir` is "" if the line does
// not name one.
using StreamNames = std::function<std::vector<std::string>(const std::string& runtime_dir)>;

// `words` are those after the program's name; the last is being typed and may be empty.
Completion complete(const CLI::App& app, const std::vector<std::string>& words,
                    const StreamNames& stream_names);

// The form that the scripts in deploy/completion read: a line with "words", "files" or "folders",
// then a line "WORD<tab>WHAT" for each word.
std::string completion_text(const Completion& completion);

}  // namespace echoline::cli
