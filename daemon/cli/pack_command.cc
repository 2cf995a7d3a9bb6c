// `echoline pack`: folders, IDX files and lists of files into shards.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/pluralize.h"
#include "cli/commands.h"
#include "cli/progress_bar.h"
#include "config/values.h"

namespace echoline::cli {

Status run_pack(const PackOptions& options, bool json) {
  Result<PackProgress> packed = [&options] {
    ProgressLine line;
    return pack(options, [&line](const PackProgress& progress) {
      line.show(
          fmt::format("{} {}/{}, {}, {}", draw_bar(progress.records_done, progress.records, 30),
                      progress.records_done, pluralize(progress.records, "record"),
                      pluralize(progress.shards, "shard"), config::format_bytes(progress.bytes)));
    });
  }();
  if (!packed.ok()) return packed.status();
  if (json) {
    const nlohmann::ordered_json line = {{"records", packed->records_done},
                                         {"shards", packed->shards},
                                         {"bytes", packed->bytes},
                                         {"output", options.output_dir}};
    fmt::print("{}\n", line.dump());
    return Status();
  }
  fmt::print("{}: {} in {}, {}\n", options.output_dir, pluralize(packed->records_done, "record"),
             pluralize(packed->shards, "shard"), config::format_bytes(packed->bytes));
  return Status();
}

}  // namespace echoline::cli
