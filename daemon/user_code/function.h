// A user's function or data set in Python, or a step of a plugin, as a step of a pipeline calls it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decode/sample.h"
#include "user_code/library_file.h"

namespace echoline::user_code {

// A user of this host.
struct Account {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string home;
};

struct Function {
  std::string interpreter;  // the program that runs it
  std::string file;         // its path, for tracebacks; its folder is in sys.path
  // The text of the file when the stream was opened, which all workers run; of a library its hash.
  std::string source;
  std::string name;
  std::shared_ptr<const LibraryFile> library;  // of a plugin; null: Python
  std::string settings;                        // of a plugin: a JSON object
  // It returns a data set, of which a call gets the sample of the number that is the only input.
  bool is_data_set = false;
  std::vector<std::string> names;  // of a data set: the elements of its samples, if they are tuples
  // It gets a chunk of samples at a time: arrays of all of them.
  bool is_batched = false;
  std::uint32_t samples = 1;  // that one exchange of messages has at most
  std::uint8_t step = 0;      // the number of the step, part of the keys of random draws
  std::vector<decode::FieldType> inputs;   // what the function gets, in the order of a call
  std::vector<decode::FieldType> outputs;  // what it returns; describe() asks a plugin for them
  // The versions of interpreter and numpy are part of the fingerprint.
  bool counts_versions = false;
  std::uint32_t workers = 1;
  bool threads = false;                // they are threads of one process, if it has no GIL
  std::uint64_t timeout_ns = 0;        // of one sample
  std::uint64_t memory_bytes = 0;      // private memory of a worker
  std::uint64_t sample_bytes = 0;      // all arrays of one message, and all that comes back
  std::optional<Account> account;      // that workers run as; none: the daemon's user
  std::vector<std::string> variables;  // names of the environment that workers get too

  // The name of the step in configurations, for messages.
  const char* key() const { return library == nullptr ? "python" : "plugin"; }
};

}  // namespace echoline::user_code
