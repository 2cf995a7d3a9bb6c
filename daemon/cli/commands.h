// The commands of `echoline`: their options and the functions that run them. Results go to stdout;
// errors are returned and main prints them. The main thread calls them.
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
  bool offline = false;  // checks only the configuration, opens neither storage nor TLS files
  bool json = false;
};
// Validates a configuration, checks the data that it names, and prints memory, echo point and epoch
// length of each stream.
Status check(const CheckOptions& options);

struct IndexOptions {
  std::string target;  // a configuration file or an address
  std::vector<std::string> overrides;
  std::string format;  // for an address only, as the next two
  std::string endpoint;
  std::string region;
  std::string state_dir;
  bool publish = false;
  bool checksums = false;  // of all records, so all data is read
  bool json = false;
};
// The usage error if an option does not apply to the target; else empty.
std::string index_misuse(const IndexOptions& options);
Status build_index(const IndexOptions& options);

Status list_streams(const DaemonOptions& daemon, bool json);
// For shell completion: empty if no daemon answers quickly.
std::vector<std::string> stream_names(const std::string& runtime_dir);
// `stall`: only what delays its trainers now.
Status show_stream(const DaemonOptions& daemon, const std::string& stream, bool stall, bool json);

struct TopOptions {
  std::string stream;  // "": all as text, or the first one live
  std::string interval = "1s";
  std::uint64_t count = 0;  // 0: no limit
  bool json = false;
};
// Live if stdout is a terminal with control sequences and there is no count; else text or JSON,
// once per interval.
Status top_streams(const DaemonOptions& daemon, const TopOptions& options);

struct AnalyzeOptions {
  std::string duration = "10s";
  std::vector<std::string> what_if;  // as analyze/what_if.h has it
  std::string svg;                   // file of a picture; "": none
  std::string usefulness;            // file as analyze/usefulness.h has it; "": none
  bool json = false;
  bool let_sleep = false;  // workers without work, as always
  // A stream of this configuration in a private daemon; "": a stream of a running daemon.
  std::string config;
  std::vector<std::string> overrides;  // of the configuration
  double trainer_rate = 0;             // rows per second of its trainer; 0: not known
};
// Why the options do not belong together; "" if they do.
std::string analyze_misuse(const AnalyzeOptions& options);
// Prints what limits a stream, and what other settings would give.
Status analyze_stream(const DaemonOptions& daemon, const std::string& stream,
                      const AnalyzeOptions& options);

struct TraceOptions {
  std::uint32_t seconds = 5;
  std::string out;  // "": STREAM.trace.json
};
// Records what a stream does into a file for ui.perfetto.dev.
Status trace_stream(const DaemonOptions& daemon, const std::string& stream,
                    const TraceOptions& options);

struct StepOptions {
  std::optional<std::uint64_t> step;
  std::uint32_t epoch = 0;
  std::uint32_t batch_size = 0;  // 0: that of the stream
  bool keys = false;
};
// Prints one line of JSON, as `read --ids` does.
Status show_step(const DaemonOptions& daemon, const std::string& stream,
                 const StepOptions& options);
Status print_state(const DaemonOptions& daemon, const std::string& stream);

struct CreateOptions {
  std::string file;
  std::vector<std::string> overrides;
  bool persist = false;  // the daemon creates them again at each start
};
Status create_streams(const DaemonOptions& daemon, const CreateOptions& options);
Status delete_stream(const DaemonOptions& daemon, const std::string& stream, bool allow_missing);
// `patience` as "5s". True if the trainers took all published batches within that time.
Result<bool> drain_stream(const DaemonOptions& daemon, const std::string& stream,
                          const std::string& patience);

// `factor` as "1.5". Prints the position at which the new factor starts.
// Without a factor: forgets the place of an echo that the daemon has placed.
Status set_echo(const DaemonOptions& daemon, const std::string& stream, const std::string& factor);

// The usage error if one of them is no weight; else empty.
std::string weights_misuse(const std::vector<std::string>& weights);
// `weights` as "web=0.5". Prints the position at which the new weights start.
Status set_weights(const DaemonOptions& daemon, const std::string& stream,
                   const std::vector<std::string>& weights);

struct ReadOptions {
  std::string stream;
  std::string job = "default";
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  std::uint32_t batch_size = 0;
  std::string join = "start";
  std::string reattach = "60s";
  std::uint64_t batches = 0;  // 0: `epochs` counts
  std::uint64_t epochs = 1;
  bool json = false;
  bool ids = false;
  bool keys = false;
  bool checksum = false;
  bool row_checksums = false;
  std::string state_file;
  std::string save_state_file;
};
// The usage error if the place in the job cannot be; else empty.
std::string read_misuse(const ReadOptions& options);
Status read_stream(const DaemonOptions& daemon, const ReadOptions& options);

// Packs with a progress bar.
Status run_pack(const PackOptions& options, bool json);

}  // namespace echoline::cli
