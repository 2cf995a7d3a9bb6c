// `echoline read`: a trainer that only reads, through the client library.
#include <fmt/core.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <echoline/echoline.hpp>
#include <fstream>
#include <memory>

#include "base/clock.h"
#include "base/pluralize.h"
#include "base/sanitize_name.h"
#include "cli/batch_line.h"
#include "cli/commands.h"
#include "cli/control_client.h"
#include "cli/output_file.h"
#include "cli/progress_bar.h"
#include "cli/read_report.h"
#include "config/values.h"

namespace echoline::cli {
namespace {

// How often it checks for Ctrl-C.
constexpr std::chrono::milliseconds kInterruptCheck{200};
constexpr std::size_t kStateBytesMax = 64 << 10;

std::atomic<bool> interrupted = false;

// The first Ctrl-C ends the reading and prints the report, the second one ends the program.
void end_on_interrupt() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Result<std::string> read_state(const std::string& path) {
  std::ifstream file(path);
  if (!file) return errno_status(errno == 0 ? EIO : errno, path).with_context("--state");
  std::string text(kStateBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad()) return errno_status(errno == 0 ? EIO : errno, path).with_context("--state");
  if (text.empty() || text.size() > kStateBytesMax)
    return Status(Code::kInvalidArgument,
                  fmt::format("--state: {}: a state has 1 to {} bytes", path, kStateBytesMax));
  return text;
}

Result<LoaderOptions> loader_options(const DaemonOptions& daemon, const ReadOptions& options) {
  LoaderOptions loader;
  loader.job = options.job;
  loader.rank = options.rank;
  loader.world_size = options.world_size;
  loader.batch_size = options.batch_size;
  loader.join = options.join == "current"      ? Join::kCurrent
                : options.join == "next_epoch" ? Join::kNextEpoch
                                               : Join::kStart;
  const Result<std::uint64_t> reattach_ns = config::parse_duration_ns(options.reattach);
  if (!reattach_ns.ok()) return reattach_ns.status().with_context("--reattach");
  loader.reattach =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::nanoseconds(*reattach_ns));
  loader.runtime_dir = runtime_dir_of(daemon.runtime_dir);
  if (!options.state_file.empty()) {
    ECHOLINE_ASSIGN(loader.state, read_state(options.state_file));
  }
  return loader;
}

// Reads batches and counts them, during one command.
class StreamReading {
 public:
  StreamReading(const ReadOptions& options, Loader loader, std::unique_ptr<ControlClient> control)
      : options_(options), loader_(std::move(loader)), control_(std::move(control)) {
    for (const echoline_field& field : loader_.fields()) fields_.emplace_back(field.name);
  }

  Status run() {
    const std::uint64_t start_ns = monotonic_ns();
    const double start_cpu = cpu_seconds();
    Status status;
    while (status.ok() && !done()) status = step();
    print_news();
    report_.seconds = to_seconds(monotonic_ns() - start_ns);
    report_.cpu_seconds = cpu_seconds() - start_cpu;
    return status;
  }

  const ReadReport& report() const { return report_; }
  std::string state() const { return loader_.state(); }

 private:
  bool done() const {
    if (interrupted) return true;
    return options_.batches > 0 ? report_.batches >= options_.batches : epochs_ >= options_.epochs;
  }

  // Returns after a batch, at the end of an epoch, or when it is time to check for Ctrl-C.
  Status step() {
    Batch batch;
    const std::uint64_t asked_ns = monotonic_ns();
    const int status = loader_.next_within(kInterruptCheck, batch);
    waiting_ns_ += monotonic_ns() - asked_ns;
    if (status != ECHOLINE_OK) print_news();
    if (status == ECHOLINE_TIMEOUT) return Status();
    if (status == ECHOLINE_END_OF_EPOCH) {
      ++epochs_;
      return Status();
    }
    report_.next_latency.add(waiting_ns_);
    report_.wait_ns += std::exchange(waiting_ns_, 0);
    count(batch);
    return wants_lines() ? print(batch) : Status();
  }

  // Prints the client library's messages, for example about a re-attach.
  void print_news() {
    while (const std::optional<std::string> news = loader_.take_news()) {
      fmt::print(stderr, "echoline: {}\n", sanitize_text(*news));
    }
  }

  bool wants_lines() const {
    return options_.ids || options_.keys || options_.checksum || options_.row_checksums;
  }

  // Adds the batch to the report and updates the progress line.
  void count(const Batch& batch) {
    ++report_.batches;
    report_.samples += batch.valid_rows();
    report_.fresh += batch.fresh();
    for (const std::string& field : fields_) report_.bytes += batch.raw(field.c_str()).bytes;
    line_.show(fmt::format("epoch {} step {}: {}, {}", batch.epoch(), batch.step(),
                           pluralize(report_.batches, "batch"),
                           pluralize(report_.samples, "sample")));
  }

  Status print(const Batch& batch) {
    std::vector<std::string> keys;
    if (options_.keys) {
      const auto ids = batch.sample_ids();
      ECHOLINE_ASSIGN(keys, control_->keys(options_.stream, {ids.begin(), ids.end()}));
    }
    fmt::print("{}\n", batch_line(batch, fields_, keys,
                                  {.rank = options_.rank,
                                   .checksums = options_.checksum,
                                   .row_checksums = options_.row_checksums}));
    return Status();
  }

  const ReadOptions& options_;
  Loader loader_;
  const std::unique_ptr<ControlClient> control_;
  std::vector<std::string> fields_;
  ProgressLine line_;
  ReadReport report_;
  std::uint64_t epochs_ = 0;
  std::uint64_t waiting_ns_ = 0;  // for the next batch, over several calls of step()
};

// Attaches; on a terminal a line shows how far a stream is that is being opened.
Loader attach(const std::string& stream, LoaderOptions options) {
  ProgressLine line;
  options.on_attach_wait = [&](const std::string& text) { line.show(stream + ": " + text); };
  return Loader(stream, options);
}

Status read_with(const DaemonOptions& daemon, const ReadOptions& options) {
  ECHOLINE_ASSIGN(const LoaderOptions loader, loader_options(daemon, options));
  ReadReport report;
  // A scope, so that the progress line is cleared before the report is printed.
  {
    StreamReading reading(options, attach(options.stream, loader),
                          ControlClient::open({.runtime_dir = runtime_dir_of(daemon.runtime_dir)}));
    end_on_interrupt();
    ECHOLINE_TRY(reading.run());
    if (!options.save_state_file.empty()) {
      ECHOLINE_TRY(write_output("--save-state", options.save_state_file, reading.state() + "\n"));
    }
    report = reading.report();
  }
  if (options.json) {
    fmt::print("{}\n", report.json());
  } else {
    // With lines of batches on stdout, which programs read, the report goes to stderr.
    const bool lines = options.ids || options.keys || options.checksum || options.row_checksums;
    fmt::print(lines ? stderr : stdout, "{}\n", report.text());
  }
  return Status();
}

}  // namespace

std::string read_misuse(const ReadOptions& options) {
  if (options.job.empty()) return "--job: a job has a name";
  if (options.rank < options.world_size) return "";
  return fmt::format("--rank {} is not below --world-size {}", options.rank, options.world_size);
}

Status read_stream(const DaemonOptions& daemon, const ReadOptions& options) {
  try {
    return read_with(daemon, options);
  } catch (const Error& error) {
    return Status(Code::kUnavailable, error.what());
  }
}

}  // namespace echoline::cli
