#include "cli/stream_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/pluralize.h"
#include "cli/bad_record_check.h"
#include "cli/first_record.h"
#include "cli/repeat_check.h"
#include "cli/row_attempts.h"
#include "config/echo_places.h"
#include "config/pipeline.h"
#include "engine/open/kept_echo_place.h"
#include "engine/open/open_data.h"
#include "engine/open/open_remote.h"
#include "engine/open/open_stream.h"
#include "record/core/local_file.h"
#include "record/index/folder_listing.h"
#include "record/index/listing.h"
#include "record/index/sidecar_index.h"
#include "record/open/detect.h"
#include "record/open/open_data_set.h"
#include "ring/ring.h"
#include "source/core/source.h"
#include "source/open/open_source.h"
#include "user_code/workers.h"

namespace echoline::cli {
namespace {

// The number of addresses that are checked in a store if the stream has no index yet.
constexpr std::size_t kAddressesMax = 32;

std::uint64_t batches_of(const v1::Stream& stream, std::uint64_t rows) {
  const v1::Batch& batch = config::batch_step(stream);
  const std::uint64_t whole = rows / batch.size();
  return whole + (batch.last() != "drop" && rows % batch.size() != 0 ? 1 : 0);
}

// The daemon creates the folder of a disk cache. If it does not exist yet, the check creates a
// temporary one in the nearest existing folder, measures there, and removes it.
class CacheFolder {
 public:
  CacheFolder() = default;
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;
  ~CacheFolder() {
    std::error_code ignored;
    if (!made_.empty()) std::filesystem::remove_all(made_, ignored);
  }

  // The stream with the temporary folder in its cache step.
  v1::Stream stand_in(const v1::Stream& stream) {
    v1::Stream copy = stream;
    for (v1::Step& step : *copy.mutable_pipeline()) {
      if (!step.has_cache() || !step.cache().has_disk()) continue;
      std::string& path = *step.mutable_cache()->mutable_disk()->mutable_path();
      std::filesystem::path there = path;
      std::error_code error;
      if (std::filesystem::exists(there, error)) continue;
      while (!std::filesystem::exists(there, error) && there.has_relative_path()) {
        there = there.parent_path();
      }
      std::string made = (there / ".echoline-check-XXXXXX").string();
      // If it fails, opening the stream reports the daemon's own error.
      if (::mkdtemp(made.data()) != nullptr) path = made_ = made;
    }
    return copy;
  }

 private:
  std::string made_;
};

// The stream as a daemon would open it. A place that is not chosen yet: that after `decode`.
v1::Stream with_place(const std::string& name, const v1::Stream& stream, const v1::Daemon& daemon,
                      std::string& choice) {
  if (!config::leaves_echo_place(stream)) return stream;
  const auto kept = engine::KeptEchoPlace(daemon.state_dir(), name).load(stream);
  if (kept.has_value()) {
    choice = "chosen before: " + kept->why;
    return config::with_echo_at(stream, kept->place);
  }
  std::vector<std::string> places;
  for (const int place : config::echo_places(stream)) {
    places.push_back(config::place_text(stream, place));
  }
  choice = fmt::format("the daemon chooses at its first start: {}", fmt::join(places, ", "));
  return config::with_echo_at(stream, config::place_after_decode(stream));
}

// Nothing on a daemon that is such a server itself.
Status ask_preparation_servers(const std::string& name, const v1::Stream& stream,
                               const v1::Daemon& daemon, const std::string& fingerprint,
                               Checked& checked) {
  const v1::Prepare* const step = config::prepare_step(stream);
  if (step == nullptr || !daemon.serve().listen().empty()) return {};
  const engine::RemoteOptions options = engine::server_options(name, *step, fingerprint);
  ECHOLINE_ASSIGN(const engine::HostCredentials credentials,
                  engine::read_credentials({options.certificate, options.key, options.server_ca}));
  checked.servers = engine::ask_servers(options, credentials);
  return {};
}

Status measure(const std::string& name, const v1::Stream& placed, const v1::Daemon& daemon,
               Checked& checked) {
  CacheFolder folder;
  const v1::Stream stream = folder.stand_in(placed);
  const auto ignore = [](const Status&) {};
  engine::MemoryBudget budget(daemon.memory());
  engine::WorkerPool pool(1);
  ECHOLINE_ASSIGN(const engine::OpenedStream opened,
                  engine::open_stream(name, stream, {.state_dir = daemon.state_dir()}, pool, budget,
                                      {}, ignore));
  const engine::StreamCore& core = *opened.core;
  checked.indexed = true;
  checked.records = core.data_set->index().record_count();
  checked.rows = core.plan->valid_rows(core.plan->rows_per_epoch());
  checked.batches = batches_of(*checked.stream, core.plan->rows_per_epoch());
  checked.memory.ring = ring::ring_bytes(core.ring_spec);
  checked.memory.read_ahead = core.read_ahead.most_bytes;
  checked.memory.window = core.window_floor_bytes;
  checked.memory.decoded = core.window_wish_bytes;
  checked.memory.cache = opened.cache.bytes();
  for (const user_code::Workers* workers : core.preparer->chain().user_code()) {
    const user_code::Function& function = workers->function();
    const std::string threads =
        workers->has_threads() ? fmt::format(", {} threads", function.workers)
        : function.threads     ? ", processes because it has a GIL or there is one worker"
                               : "";
    checked.code.push_back(fmt::format("{}: {} of {}, in {} ({}{})", function.key(), function.name,
                                       function.file, pluralize(function.workers, "worker"),
                                       workers->versions(), threads));
  }
  ECHOLINE_TRY(ask_preparation_servers(name, stream, daemon, core.sample_fingerprint, checked));
  ECHOLINE_ASSIGN(RowAttempts attempts, RowAttempts::open(stream, core));
  ECHOLINE_ASSIGN(checked.tried, try_records(core, attempts));
  ECHOLINE_TRY(check_bad(checked.tried, core));
  if (checked.code.empty()) return {};
  ECHOLINE_TRY(check_repeatable(core, attempts, checked.tried));
  return check_bad(checked.tried, core);
}

// The `read` step with only the addresses that are checked.
Result<v1::Read> first_addresses(const v1::Read& read) {
  v1::Read first = read;
  first.clear_url();
  for (const std::string& written : read.url()) {
    ECHOLINE_ASSIGN(const std::vector<std::string> urls, source::expand_braces(written));
    for (const std::string& url : urls) {
      const bool local = record::local_path(url).has_value();
      if (local || static_cast<std::size_t>(first.url_size()) < kAddressesMax) first.add_url(url);
    }
  }
  return first;
}

enum class Seen : std::uint8_t { kListed, kDecoded, kIndexed };

// Lists the data of a source. Of those that are not indexed already, the first record is decoded if
// that is cheap.
Result<Seen> look_at(const v1::Stream& stream, const v1::Read& read, const std::string& state_dir) {
  ECHOLINE_ASSIGN(const std::unique_ptr<source::Source> source, source::open_source(read));
  // Nothing to list or to index.
  if (read.has_python() || record::FolderListing(read, *source, state_dir).is_known())
    return Seen::kIndexed;
  ECHOLINE_ASSIGN(const v1::Read first, first_addresses(read));
  ECHOLINE_ASSIGN(std::vector<record::Listed> listed, record::list_all(first, *source));
  v1::Read known = read;
  if (read.format() == "auto") {
    ECHOLINE_ASSIGN(const record::Format* format, record::detect_format(read, listed, *source));
    known.set_format(std::string(format->name));
  }
  const std::vector<source::ObjectInfo> objects = record::flatten(std::move(listed));
  if (record::index_is_known(known, state_dir) || record::have_sidecars(objects, *source)) {
    return Seen::kIndexed;
  }
  // Sources of a mixture can have steps of their own.
  if (known.format() != "webdataset" || config::mix_step(stream) != nullptr) return Seen::kListed;
  ECHOLINE_ASSIGN(const bool decoded, try_first_record(stream, objects.front(), *source));
  return decoded ? Seen::kDecoded : Seen::kListed;
}

}  // namespace

Result<Checked> check_stream(const std::string& name, const v1::Stream& given,
                             const v1::Daemon& daemon) {
  Checked checked;
  checked.stream = &given;
  checked.looked = true;
  const v1::Stream stream = with_place(name, given, daemon, checked.echo_choice);
  Seen least = Seen::kIndexed;
  const v1::Mix* const mix = config::mix_step(stream);
  const std::vector<const v1::Read*> reads = config::reads_of(stream);
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const Result<Seen> seen = look_at(stream, *reads[i], daemon.state_dir());
    const std::string source = mix == nullptr ? "" : mix->sources(static_cast<int>(i)).name();
    ECHOLINE_TRY(engine::in_source(source, seen.status()));
    least = std::min(least, *seen);
  }
  checked.decoded = least == Seen::kDecoded;
  if (least == Seen::kIndexed) ECHOLINE_TRY(measure(name, stream, daemon, checked));
  return checked;
}

}  // namespace echoline::cli
