// Opening a data set: from what an earlier start stored, otherwise from a new listing.
#include "record/open/open_data_set.h"

#include <filesystem>
#include <utility>
#include <vector>

#include "echoline/v1/config.pb.h"
#include "record/arrays/array_sets.h"
#include "record/index/folder_listing.h"
#include "record/index/index_path.h"
#include "record/index/listing.h"
#include "record/open/detect.h"
#include "record/open/formats.h"
#include "record/select/selected_set.h"
#include "source/open/open_source.h"

namespace echoline::record {
namespace {

// The formats that read.format allows: one, or for auto all.
Result<std::vector<const Format*>> allowed_formats(const v1::Read& read) {
  if (is_auto_format(read.format())) {
    const auto all = formats();
    return std::vector<const Format*>(all.begin(), all.end());
  }
  if (const Format* format = find_format(read.format())) return std::vector<const Format*>{format};
  return Status(Code::kInvalidArgument,
                "read.format '" + read.format() + "' is not known: " + format_names());
}

// A null data set if no format can open it without listing.
OpenedDataSet open_stored(const std::vector<const Format*>& allowed, const OpenRequest& request) {
  // A fresh listing was asked for.
  if (request.options.listings == Listings::kRefresh) return std::unique_ptr<DataSet>();
  for (const Format* format : allowed) {
    if (format->open_stored == nullptr) continue;
    OpenedDataSet opened = format->open_stored(request);
    // An error, or a data set: both end the search.
    if (!opened.ok() || *opened) return opened;
  }
  return std::unique_ptr<DataSet>();
}

OpenedDataSet open_listed(const std::vector<const Format*>& allowed, const OpenRequest& request) {
  ECHOLINE_ASSIGN(std::vector<Listed> listed, list_all(request.read, request.source));
  for (const Format* format : allowed) {
    // Some formats list more than the address says, such as the shards of an index file.
    if (format->expand != nullptr) ECHOLINE_TRY(format->expand(request.source, listed));
  }
  const Format* format = allowed.front();
  // With one allowed format there is nothing to detect.
  if (allowed.size() > 1) {
    ECHOLINE_ASSIGN(format, detect_format(request.read, listed, request.source));
  }
  return format->open(request, std::move(listed));
}

OpenedDataSet open_addresses(const v1::Read& read, source::Source& source,
                             const std::string& state_dir, const ProgressFunction& progress,
                             const OpenOptions& options) {
  ECHOLINE_ASSIGN(const std::vector<const Format*> allowed, allowed_formats(read));
  FolderListing folder_listing(read, source, state_dir);
  const OpenRequest request{read, source, state_dir, progress, options, folder_listing};
  ECHOLINE_ASSIGN(std::unique_ptr<DataSet> set, open_stored(allowed, request));
  if (set) return set;
  // Before the listing, so that a change while it runs is noticed at the next start.
  folder_listing.note_folder_states();
  return open_listed(allowed, request);
}

// Every data set ends with one complete report, however it was opened.
Status report_done(const DataSet& set, const ProgressFunction& progress) {
  if (!progress) return {};
  Progress done;
  // All of it: nothing is left to do.
  done.shards = done.shards_done = set.index().shard_count();
  done.records = set.index().record_count();
  done.bytes = done.bytes_done = set.index().record_bytes_total();
  return progress(done);
}

}  // namespace

Result<std::unique_ptr<DataSet>> open_data_set(const v1::Read& step, source::Source& source,
                                               const std::string& state_dir,
                                               const ProgressFunction& progress,
                                               const OpenOptions& options) {
  // The stored index is found by the endpoint, wherever that is configured.
  const v1::Read read = source::with_endpoint(step);
  std::unique_ptr<DataSet> set;
  if (read.has_python()) {
    set = make_number_set(options.python_records);
  } else {
    ECHOLINE_ASSIGN(set, open_addresses(read, source, state_dir, progress, options));
  }
  if (selects_records(read)) {
    ECHOLINE_ASSIGN(set, select_records(read, std::move(set)));
  }
  ECHOLINE_TRY(report_done(*set, progress));
  return set;
}

bool index_is_known(const v1::Read& step, const std::string& state_dir) {
  const v1::Read read = source::with_endpoint(step);
  bool scans = false;
  for (const Format* format : formats()) {
    // Only formats that scan shards have an index that could be missing.
    const bool allowed = read.format() == format->name || read.format() == "auto";
    if (!allowed || !format->scans_shards) continue;
    if (std::filesystem::exists(stored_index_path(read, format->name, state_dir))) return true;
    scans = true;
  }
  return !scans;
}

}  // namespace echoline::record
