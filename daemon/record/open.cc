// Opening a data set: by a listing that is known, else by one that is made.
#include <filesystem>

#include "echoline/v1/config.pb.h"
#include "record/array_sets.h"
#include "record/detect.h"
#include "record/files_set.h"
#include "record/folder_listing.h"
#include "record/folder_set.h"
#include "record/format.h"
#include "record/listing.h"
#include "record/mds_set.h"
#include "record/shard_list.h"
#include "record/table_index.h"
#include "record/tfrecord.h"
#include "record/webdataset.h"

namespace echoline::record {
namespace {

void report_done(const DataSet& set, const ProgressFunction& progress) {
  if (!progress) return;
  Progress done;
  done.shards = done.shards_done = set.index().shard_count();
  done.records = set.index().record_count();
  done.bytes = done.bytes_done = set.index().record_bytes_total();
  progress(done);
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

// Lists, finds out the format, hands over.
Result<std::unique_ptr<DataSet>> open_listed(const v1::Read& read, source::Source& source,
                                             const std::string& state_dir,
                                             const ProgressFunction& progress,
                                             FolderListing& folder) {
  folder.begin();
  ECHOLINE_ASSIGN(std::vector<Listed> listed, list_all(read, source));
  std::string format = read.format();
  if (format.empty() || format == "auto" || format == "webdataset") {
    ECHOLINE_TRY(expand_shard_lists(source, listed));
  }
  if (format.empty() || format == "auto") {
    ECHOLINE_ASSIGN(format, detect_format(read, listed, source));
  }
  if (format == "folder") {
    ECHOLINE_ASSIGN(FileIndex files, records_of(std::move(listed)));
    return open_folder(read, folder.finish(std::move(files)), source);
  }
  if (format == "mds") return open_mds(read, listed, source, state_dir, progress);
  std::vector<source::ObjectInfo> objects = flatten(std::move(listed));
  if (format == "webdataset") {
    return open_webdataset(read, objects, source, state_dir, progress);
  }
  if (format == "tfrecord") return open_tfrecord(read, objects, source, state_dir, progress);
  if (format == "files") return open_files(read, objects, source, state_dir, progress);
  if (format == "idx") return open_idx(std::move(objects), source);
  if (format == "tokens") return open_tokens(read, objects, source);
  return Status(Code::kInvalidArgument,
                "read.format '" + format + "' is not known: " + std::string(kFormatNames));
}

}  // namespace

Result<std::unique_ptr<DataSet>> open_data_set(const v1::Read& read, source::Source& source,
                                               const std::string& state_dir,
                                               const ProgressFunction& progress,
                                               Listings listings) {
  FolderListing folder(read, source, state_dir);
  auto known = listings == Listings::kTrusted ? folder.find() : std::nullopt;
  auto set = known ? open_folder(read, std::move(*known), source)
                   : open_listed(read, source, state_dir, progress, folder);
  if (!set.ok()) return set;
  if (auto* table = dynamic_cast<TableDataSet*>(set->get())) {
    table->set_unpacking(unpacking(read, state_dir));
  }
  report_done(**set, progress);
  return set;
}

}  // namespace echoline::record
