// The commands of `echoline`: what each takes, and the function that runs it. Results go to stdout,
// errors come back and are printed by main. Called by the main thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/daemon_options.h"
#include "pack/pack.h"

namespace echoline::cli {

struct CheckOptions {
  std::string file;
  std::vector<std::string> overrides;
  bool offline = false;  // the configuration alone: neither storage nor TLS files are opened
  bool json = false;
};
// Validates a configuration, looks at the data it names, and prints what each stream comes to:
// memory, echo point, epoch length.
Status check(const CheckOptions& options);

struct IndexOptions {
  std::string target;  // a configuration file or an address
  std::vector<std::string> overrides;
  std::string format;  // of an address, as the next two
  std::string endpoint;
  std::string region;
  std::string state_dir;
  bool publish = false;
  bool checksums = false;  // of every record, which reads all the data
  bool json = false;
};
// What is wrong with the call: an option that the target has no use for. Empty if nothing is.
std::string index_misuse(const IndexOptions& options);
Status build_index(const IndexOptions& options);

Status list_streams(const DaemonOptions& daemon, bool json);
// For a line that is being typed: none where no daemon answers in a moment.
std::vector<std::string> stream_names(const std::string& runtime_dir);
Status show_stream(const DaemonOptions& daemon, const std::string& stream, bool json);

struct TopOptions {
  std::string stream;  // "" for all, or the first
  std::string interval = "1s";
  std::uint64_t count = 0;  // 0: without end
  bool json = false;
};
// Live where stdout is a terminal that can be drawn on and no count was asked for; else text or
// JSON, one piece an interval.
Status top_streams(const DaemonOptions& daemon, const TopOptions& options);

struct StepOptions {
  std::optional<std::uint64_t> step;
  std::uint32_t epoch = 0;
  std::uint32_t batch_size = 0;  // 0: the stream's
  bool keys = false;
};
// One line of JSON, as `read --ids` prints it.
Status show_step(const DaemonOptions& daemon, const std::string& stream,
                 const StepOptions& options);
Status print_state(const DaemonOptions& daemon, const std::string& stream);

struct CreateOptions {
  std::string file;
  std::vector<std::string> overrides;
  bool persist = false;  // created again when the daemon starts
};
Status create_streams(const DaemonOptions& daemon, const CreateOptions& options);
Status delete_stream(const DaemonOptions& daemon, const std::string& stream, bool allow_missing);
// `patience` as "5s". Whether the trainers had taken all that is published in that time.
Result<bool> drain_stream(const DaemonOptions& daemon, const std::string& stream,
                          const std::string& patience);

// `factor` as "1.5"; says where it begins.
Status set_echo(const DaemonOptions& daemon, const std::string& stream, const std::string& factor);

struct ReadOptions {
  std::string stream;
  std::string job = "default";
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  std::uint32_t batch_size = 0;
  std::string join = "start";
  std::string reattach = "60s";
  std::uint64_t batches = 0;  // 0: by epochs
  std::uint64_t epochs = 1;
  bool json = false;
  bool ids = false;
  bool keys = false;
  bool checksum = false;
  bool row_checksums = false;
  std::string state_file;
  std::string save_state_file;
};
Status read_stream(const DaemonOptions& daemon, const ReadOptions& options);

// Runs the packing with a progress bar.
Status run_pack(const PackOptions& options, bool json);

}  // namespace echoline::cli
