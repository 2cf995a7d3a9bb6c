// Opening a data set: by a listing that is known, else by one that is made.
#include "record/open/open_data_set.h"

#include <filesystem>

#include "echoline/v1/config.pb.h"
#include "record/arrays/array_sets.h"
#include "record/core/format.h"
#include "record/core/open_options.h"
#include "record/files/files_set.h"
#include "record/files/folder_set.h"
#include "record/index/folder_listing.h"
#include "record/index/listing.h"
#include "record/index/shard_list.h"
#include "record/index/table_index.h"
#include "record/mds/mds_set.h"
#include "record/open/detect.h"
#include "record/tar/webdataset.h"
#include "record/tfrecord/tfrecord.h"

namespace echoline::record {
namespace {

Status report_done(const DataSet& set, const ProgressFunction& progress) {
  if (!progress) return {};
  Progress done;
  done.shards = done.shards_done = set.index().shard_count();
  done.records = set.index().record_count();
  done.bytes = done.bytes_done = set.index().record_bytes_total();
  return progress(done);
}

// What compressed shards are unpacked to: the state folder's disk, or that for temporary files.
UnpackingOptions unpacking(const v1::Read& read, const std::string& state_dir) {
  constexpr std::uint64_t kBytesMax = std::uint64_t{16} << 30;
  UnpackingOptions options;
  std::error_code error;
  options.folder = state_dir.empty() ? std::filesystem::temp_directory_path(error).string()
                                     : state_dir + "/unpacked";
  options.bytes_max = read.unpack() == 0 ? kBytesMax : read.unpack();
  return options;
}

}  // namespace

Result<std::unique_ptr<DataSet>> open_data_set(const v1::Read& read, source::Source& source,
                                               const std::string& state_dir,
                                               const ProgressFunction& progress,
                                               const OpenOptions& options) {
  FolderListing folder(read, source, state_dir);
  auto known = options.listings == Listings::kTrusted ? folder.find() : std::nullopt;
  if (known) {
    auto set = open_folder(read, std::move(*known), source);
    if (set.ok()) ECHOLINE_TRY(report_done(**set, progress));
    return set;
  }
  folder.begin();
  ECHOLINE_ASSIGN(std::vector<Listed> listed, list_all(read, source));
  std::string format = read.format();
  if (format.empty() || format == "auto" || format == "webdataset") {
    ECHOLINE_TRY(expand_shard_lists(source, listed));
  }
  if (format.empty() || format == "auto") {
    ECHOLINE_ASSIGN(format, detect_format(read, listed, source));
  }
  Result<std::unique_ptr<DataSet>> set =
      Status(Code::kInvalidArgument,
             "read.format '" + format + "' is not known: " + std::string(kFormatNames));
  if (format == "webdataset") {
    set = open_webdataset(read, flatten(std::move(listed)), source, state_dir, progress,
                          options.checksums);
  } else if (format == "tfrecord") {
    set = open_tfrecord(read, flatten(std::move(listed)), source, state_dir, progress,
                        options.checksums);
  } else if (format == "mds") {
    set = open_mds(read, listed, source, state_dir, progress, options.checksums);
  } else if (format == "folder") {
    ECHOLINE_ASSIGN(FileIndex files, records_of(std::move(listed)));
    set = open_folder(read, folder.finish(std::move(files)), source);
  } else if (format == "files") {
    set = open_files(read, flatten(std::move(listed)), source, state_dir, progress);
  } else if (format == "idx") {
    set = open_idx(flatten(std::move(listed)), source);
  } else if (format == "tokens") {
    set = open_tokens(read, flatten(std::move(listed)), source);
  }
  if (!set.ok()) return set;
  if (auto* table = dynamic_cast<TableDataSet*>(set->get())) {
    table->set_unpacking(unpacking(read, state_dir));
    if (read.checksums() == "none") table->hide_checksums();
  }
  ECHOLINE_TRY(report_done(**set, progress));
  return set;
}

}  // namespace echoline::record
