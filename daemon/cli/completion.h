// What may follow on a command line that is being typed, for the shells' completion: taken from the
// definition that parses it. Pure functions, but for the names of streams, which are asked for.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace echoline::cli {

// Types of options whose value is a path; they stand in their help, too.
inline constexpr const char* kFileType = "FILE";
inline constexpr const char* kFolderType = "DIR";

struct Completion {
  enum class Kind : std::uint8_t { kWords, kFiles, kFolders };
  struct Word {
    std::string text;
    std::string what;  // what it is for; may be empty
  };
  Kind kind = Kind::kWords;
  std::vector<Word> words;  // of kind kWords
};

// The names of a daemon's streams; none if there is no daemon. Given its runtime folder, or "".
using StreamNames = std::function<std::vector<std::string>(const std::string& runtime_dir)>;

// `words` are those behind the program's name; the last is being typed, and may be empty.
Completion complete(const CLI::App& app, const std::vector<std::string>& words,
                    const StreamNames& stream_names);

// "words", "files" or "folders" in a line, then one "WORD<tab>WHAT" each: for the scripts in
// deploy/completion.
std::string completion_text(const Completion& completion);

}  // namespace echoline::cli
