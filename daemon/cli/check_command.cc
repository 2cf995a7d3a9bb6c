// `echoline check`: the configuration by itself, and with the data where their index is known.
// Nothing is started, no ring is made.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/log.h"
#include "cli/commands.h"
#include "config/load.h"
#include "config/pipeline.h"
#include "config/values.h"
#include "engine/open_stream.h"
#include "record/shard_index.h"
#include "record/stored_index.h"
#include "ring/ring.h"
#include "source/source.h"

namespace echoline::cli {
namespace {

// Bytes of one stream with one pass, by use; the window is what it needs at least.
struct Memory {
  std::uint64_t ring = 0, read_ahead = 0, window = 0, cache = 0;
  std::uint64_t total() const { return ring + read_ahead + window + cache; }
};

struct Checked {
  const v1::Stream* stream = nullptr;
  // With the index only.
  bool indexed = false;
  std::uint64_t records = 0, rows = 0, batches = 0;
  Memory memory;
};

std::uint64_t batches_of(const v1::Stream& stream, std::uint64_t rows) {
  const v1::Batch& batch = config::batch_step(stream);
  const std::uint64_t whole = rows / batch.size();
  return whole + (batch.last() != "drop" && rows % batch.size() != 0 ? 1 : 0);
}

Status measure(const std::string& name, const v1::Daemon& daemon, engine::MemoryBudget& budget,
               Checked& checked) {
  const auto ignore = [](const Status&) {};
  engine::WorkerPool pool(1);
  ECHOLINE_ASSIGN(
      const engine::OpenedStream opened,
      engine::open_stream(name, *checked.stream, daemon.state_dir(), pool, budget, {}, ignore));
  const engine::StreamCore& core = *opened.core;
  checked.indexed = true;
  checked.records = core.data_set->index().record_count();
  checked.rows = core.plan->rows_per_epoch();
  checked.batches = batches_of(*checked.stream, checked.rows);
  checked.memory.ring = ring::ring_bytes(core.ring_spec);
  checked.memory.read_ahead = core.read_ahead_bytes;
  checked.memory.window = core.window_floor_bytes;
  checked.memory.cache = opened.cache.bytes();
  return Status();
}

Result<std::map<std::string, Checked>> check_streams(const v1::Config& config) {
  std::map<std::string, Checked> all;
  for (const auto& [name, stream] : config.streams()) {
    Checked checked;
    checked.stream = &stream;
    if (record::index_is_known(config::read_step(stream), config.daemon().state_dir())) {
      engine::MemoryBudget budget(config.daemon().memory());
      Status measured = measure(name, config.daemon(), budget, checked);
      if (!measured.ok()) return std::move(measured).with_context("stream '" + name + "'");
    }
    all[name] = checked;
  }
  return all;
}

std::uint64_t total_bytes(const std::map<std::string, Checked>& all) {
  std::uint64_t bytes = 0;
  for (const auto& [name, checked] : all) bytes += checked.memory.total();
  return bytes;
}

std::string echo_text(const v1::Stream& stream) {
  const config::EchoPlace place = config::echo_place(stream);
  if (place == config::EchoPlace::kNone) return "no echo";
  return fmt::format("{} echo x {}, window {}", config::to_string(place),
                     config::format_thousandths(config::echo_factor(stream)),
                     config::echo_step(stream)->window());
}

void print_text(const std::string& file, const v1::Config& config,
                const std::map<std::string, Checked>& all) {
  fmt::print("{}: ok\n", file);
  for (const auto& [name, checked] : all) {
    fmt::print("stream {}: {}, batches of {}\n", name, echo_text(*checked.stream),
               config::batch_step(*checked.stream).size());
    if (!checked.indexed) {
      fmt::print("  epoch: known when indexed; run 'echoline index {}'\n", file);
      continue;
    }
    const Memory& memory = checked.memory;
    fmt::print("  epoch: {} records, {} rows, {} batches\n", checked.records, checked.rows,
               checked.batches);
    fmt::print("  memory: {} (ring {}, read-ahead {}, echo window {}, cache {})\n",
               config::format_bytes(memory.total()), config::format_bytes(memory.ring),
               config::format_bytes(memory.read_ahead), config::format_bytes(memory.window),
               config::format_bytes(memory.cache));
  }
  const bool whole =
      std::all_of(all.begin(), all.end(), [](const auto& stream) { return stream.second.indexed; });
  fmt::print("memory: {}{} of {} (daemon.memory)\n", whole ? "" : "known so far ",
             config::format_bytes(total_bytes(all)),
             config::format_bytes(config.daemon().memory()));
}

nlohmann::ordered_json stream_json(const Checked& checked) {
  nlohmann::ordered_json line = {
      {"echo_point", std::string(config::to_string(config::echo_place(*checked.stream)))},
      {"echo_factor", config::echo_factor(*checked.stream) / 1000.0},
      {"batch_size", config::batch_step(*checked.stream).size()},
      {"indexed", checked.indexed}};
  if (!checked.indexed) return line;
  line["records"] = checked.records;
  line["rows_per_epoch"] = checked.rows;
  line["batches_per_epoch"] = checked.batches;
  line["memory_bytes"] = {{"ring", checked.memory.ring},
                          {"read_ahead", checked.memory.read_ahead},
                          {"window", checked.memory.window},
                          {"cache", checked.memory.cache}};
  return line;
}

void print_json(const v1::Config& config, const std::map<std::string, Checked>& all) {
  nlohmann::ordered_json document = {{"memory_budget_bytes", config.daemon().memory()},
                                     {"memory_needed_bytes", total_bytes(all)}};
  document["streams"] = nlohmann::ordered_json::object();
  for (const auto& [name, checked] : all) document["streams"][name] = stream_json(checked);
  fmt::print("{}\n", document.dump());
}

}  // namespace

Status check(const CheckOptions& options) {
  ECHOLINE_ASSIGN(const v1::Config config,
                  config::load_config_file(options.file, options.overrides));
  set_log_level(LogLevel::kWarning);
  ECHOLINE_ASSIGN(const auto all, check_streams(config));
  const std::uint64_t needed = total_bytes(all);
  if (needed > config.daemon().memory()) {
    return Status(Code::kResourceExhausted,
                  fmt::format("{}: the streams need {}, daemon.memory is {}; raise it, or lower "
                              "publish.slots, batch.size, echo.window, cache.memory or "
                              "read.read_ahead",
                              options.file, config::format_bytes(needed),
                              config::format_bytes(config.daemon().memory())));
  }
  options.json ? print_json(config, all) : print_text(options.file, config, all);
  return Status();
}

}  // namespace echoline::cli
