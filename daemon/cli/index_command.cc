// `echoline index`: opens a data set as the daemon does, with a progress bar.
#include <fmt/core.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/clock.h"
#include "base/log.h"
#include "base/pluralize.h"
#include "base/scheme.h"
#include "cli/commands.h"
#include "cli/progress_bar.h"
#include "config/load.h"
#include "config/paths.h"
#include "config/pipeline.h"
#include "config/values.h"
#include "record/core/data_set.h"
#include "record/core/open_options.h"
#include "record/open/open_data_set.h"
#include "source/core/source.h"
#include "source/open/open_source.h"

namespace echoline::cli {
namespace {

// The `read` steps to index: those of a configuration by stream, or one made from an address.
struct IndexJob {
  std::map<std::string, v1::Read> reads;
  std::string state_dir;
};

bool is_config(const std::string& target) {
  const std::filesystem::path path(target);
  return path.extension() == ".yaml" || path.extension() == ".yml";
}

void add_reads(const std::string& name, const v1::Stream& stream, IndexJob& job) {
  const v1::Mix* const mix = config::mix_step(stream);
  if (mix == nullptr) {
    job.reads[name] = config::read_step(stream);
    return;
  }
  for (const v1::MixSource& source : mix->sources()) {
    job.reads[name + "/" + source.name()] = source.read();
  }
}

Result<IndexJob> job_of_config(const IndexOptions& options) {
  ECHOLINE_ASSIGN(const v1::Config config,
                  config::load_config_file(options.target, options.overrides));
  IndexJob job;
  job.state_dir = config.daemon().state_dir();
  for (const auto& [name, stream] : config.streams()) add_reads(name, stream, job);
  if (job.reads.empty()) return Status(Code::kNotFound, options.target + ": no streams in it");
  return job;
}

// The error for an option that a configuration makes useless; "" if there is none.
std::string misuse_of_config(const IndexOptions& options) {
  for (const auto& [flag, key, value] : {std::tuple{"--format", "format", &options.format},
                                         {"--endpoint", "endpoint", &options.endpoint},
                                         {"--region", "region", &options.region}})
    if (!value->empty())
      return fmt::format(
          "{} is for an address; in {} it is read.{}, as --set streams.NAME.pipeline.read.{}={}",
          flag, options.target, key, key, *value);
  return {};
}

// The error for an option that does not apply to this address; "" if there is none.
std::string misuse_of_address(const IndexOptions& options) {
  if (!options.overrides.empty())
    return fmt::format(
        "--set {} is for a configuration, and {} is an address; write the stream into a FILE.yaml "
        "and index that",
        options.overrides.front(), options.target);
  const auto scheme = scheme_of(options.target);
  if (!options.endpoint.empty() && (scheme == Scheme::kFile || scheme == Scheme::kHttp))
    return fmt::format("--endpoint is for s3://, gs:// and hf://, not for {}", options.target);
  if (!options.region.empty() && scheme != Scheme::kS3)
    return fmt::format("--region is for s3://, not for {}", options.target);
  return {};
}

// Replaces "stream 'index': key 'endpoint'" in a configuration error by the option, --endpoint.
Status in_terms_of_options(const Status& status) {
  constexpr std::string_view kBefore = "stream 'index': key '";
  const std::string& text = status.message();
  const std::size_t end = text.find('\'', kBefore.size());
  if (!text.starts_with(kBefore) || end == std::string::npos) return status;
  const std::string key = text.substr(kBefore.size(), end - kBefore.size());
  return Status(status.code(), (key == "url" ? "the address" : "--" + key) + text.substr(end + 1));
}

// An address becomes a stream with only this address, so that the configuration's checks apply.
Result<IndexJob> job_of_address(const IndexOptions& options) {
  v1::Stream stream;
  v1::Read& read = *stream.add_pipeline()->mutable_read();
  read.add_url(options.target);
  if (!options.format.empty()) read.set_format(options.format);
  if (!options.endpoint.empty()) read.set_endpoint(options.endpoint);
  if (!options.region.empty()) read.set_region(options.region);
  // The other required steps; indexing does not use them.
  auto& field = (*stream.add_pipeline()->mutable_decode()->mutable_fields())["data"];
  field.set_key("data");
  field.set_as("bytes");
  stream.add_pipeline()->mutable_batch()->set_size(1);
  if (const Status status = config::complete_stream("index", stream); !status.ok()) {
    return in_terms_of_options(status);
  }
  IndexJob job;
  job.reads[options.target] = config::read_step(stream);
  job.state_dir = config::default_state_dir();
  return job;
}

// ", about 3 min left", estimated from the progress since the start; empty in the first second.
std::string time_left(const record::Progress& progress, std::uint64_t elapsed_ns) {
  if (elapsed_ns < 1'000'000'000 || progress.bytes_done == 0) return {};
  const double share =
      static_cast<double>(progress.bytes_done) / static_cast<double>(progress.bytes);
  const double seconds = static_cast<double>(elapsed_ns) / 1e9 * (1 - share) / share;
  if (seconds < 90) return fmt::format(", about {:.0f} s left", seconds);
  if (seconds < 5400) return fmt::format(", about {:.0f} min left", seconds / 60);
  return fmt::format(", about {:.1f} h left", seconds / 3600);
}

std::string progress_text(const std::string& name, const record::Progress& progress,
                          std::uint64_t elapsed_ns) {
  const std::string text =
      fmt::format("{} {}/{}, {}", name, progress.shards_done, pluralize(progress.shards, "shard"),
                  pluralize(progress.records, "record"));
  if (progress.bytes == 0) return text;
  return fmt::format("{} {}, {} of {}{}", draw_bar(progress.bytes_done, progress.bytes, 30), text,
                     config::format_bytes(progress.bytes_done),
                     config::format_bytes(progress.bytes), time_left(progress, elapsed_ns));
}

struct Indexed {
  std::uint64_t records = 0, shards = 0, bytes = 0, published = 0, checksums = 0;
  std::string format;
};

std::uint64_t count_checksums(const record::Index& index) {
  std::uint64_t count = 0;
  for (std::uint64_t record = 0; record < index.record_count(); ++record) {
    if (index.checksum(record) != 0) ++count;
  }
  return count;
}

// All the work was for a file that another start finds.
Status with_way_out(const Status& status, const std::string& state_dir) {
  if (status.message().find("is not stored") == std::string::npos) return status;
  return Status(
      status.code(),
      fmt::format("{}; let this user write to {}, or name another folder with --state-dir",
                  status.message(), state_dir));
}

Result<Indexed> index_one(const std::string& name, const v1::Read& read,
                          const std::string& state_dir, const IndexOptions& options) {
  ProgressLine line;
  ECHOLINE_ASSIGN(
      const std::unique_ptr<source::Source> source,
      source::open_source(read, options.publish ? source::Access::kWrite : source::Access::kRead));
  const std::uint64_t start_ns = monotonic_ns();
  const auto show = [&](const record::Progress& progress) {
    line.show(progress_text(name, progress, monotonic_ns() - start_ns));
    return Status();
  };
  const record::OpenOptions opening{
      .listings = options.publish ? record::Listings::kRefresh : record::Listings::kReuse,
      .checksums = options.checksums ? record::Checksums::kAll : record::Checksums::kIfRead,
      // A published index is where other hosts need it.
      .must_keep = !options.publish};
  Result<std::unique_ptr<record::DataSet>> opened =
      record::open_data_set(read, *source, state_dir, show, opening);
  if (!opened.ok()) return with_way_out(opened.status(), state_dir);
  const std::unique_ptr<record::DataSet> data_set = std::move(*opened);
  const record::Index& index = data_set->index();
  Indexed indexed;
  indexed.checksums = count_checksums(index);
  if (options.checksums && indexed.checksums == 0)
    return Status(
        Code::kInvalidArgument,
        fmt::format("format {} has no index that checksums could be kept in", data_set->format()));
  if (options.publish) {
    ECHOLINE_ASSIGN(indexed.published, data_set->publish(*source));
  }
  indexed.records = index.record_count();
  indexed.shards = index.shard_count();
  indexed.bytes = index.record_bytes_total();
  indexed.format = data_set->format();
  return indexed;
}

void print_indexed(const std::string& name, const Indexed& indexed, bool json) {
  if (json) {
    const nlohmann::ordered_json line = {{"name", name},
                                         {"records", indexed.records},
                                         {"shards", indexed.shards},
                                         {"bytes", indexed.bytes},
                                         {"format", indexed.format},
                                         {"published", indexed.published},
                                         {"checksums", indexed.checksums}};
    fmt::print("{}\n", line.dump());
    return;
  }
  fmt::print("{}: {} in {}, {}, {}", name, pluralize(indexed.records, "record"),
             pluralize(indexed.shards, "shard"), config::format_bytes(indexed.bytes),
             indexed.format);
  if (indexed.checksums > 0) fmt::print(", {}", pluralize(indexed.checksums, "checksum"));
  if (indexed.published > 0)
    fmt::print("; {} next to the data", pluralize(indexed.published, "index file"));
  fmt::print("\n");
}

// A data set in Python says its length when a stream is opened.
void print_without_index(const std::string& name, bool json) {
  if (json) {
    fmt::print("{}\n", nlohmann::ordered_json{{"name", name}, {"format", "python"}}.dump());
  } else {
    fmt::print("{}: a data set in Python, which needs no index\n", name);
  }
}

}  // namespace

std::string index_misuse(const IndexOptions& options) {
  if (is_config(options.target)) return misuse_of_config(options);
  const std::string misuse = misuse_of_address(options);
  return misuse.empty() ? job_of_address(options).status().message() : misuse;
}

Status build_index(const IndexOptions& options) {
  ECHOLINE_ASSIGN(IndexJob job,
                  is_config(options.target) ? job_of_config(options) : job_of_address(options));
  set_log_level(LogLevel::kWarning);
  if (!options.state_dir.empty()) job.state_dir = options.state_dir;
  for (const auto& [name, read] : job.reads) {
    if (read.has_python()) {
      print_without_index(name, options.json);
      continue;
    }
    Result<Indexed> indexed = index_one(name, read, job.state_dir, options);
    // The errors of an address need no context: the call has one address, which can contain a
    // password.
    if (!indexed.ok() && !is_config(options.target)) return indexed.status();
    if (!indexed.ok()) return indexed.status().with_context(name);
    print_indexed(name, *indexed, options.json);
  }
  return Status();
}

}  // namespace echoline::cli
