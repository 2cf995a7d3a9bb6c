// The listing is the index; a read notices a changed file by its version.
#include "record/files/folder_set.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "base/ascii.h"
#include "base/log.h"
#include "echoline/v1/config.pb.h"
#include "record/core/fields.h"
#include "record/files/class_names.h"
#include "source/core/glob.h"

namespace echoline::record {
namespace {

class FolderDataSet final : public DataSet {
 public:
  FolderDataSet(FolderFiles files, ClassNames classes, std::vector<std::uint32_t> class_ids)
      : index_(std::move(files.files)),
        listing_(std::move(files.listing)),
        classes_(std::move(classes)),
        class_ids_(std::move(class_ids)) {}
  const Index& index() const override { return index_; }
  std::string_view format() const override { return "folder"; }
  Status cut(std::uint64_t record, std::span<const std::byte> bytes, Fields& fields) const override;
  std::string metadata_text() const override;
  Result<std::uint64_t> publish(source::Source& source) const override {
    return publish_listing(index_, source);
  }
  std::unique_ptr<source::Source> reading(std::unique_ptr<source::Source> source) const override {
    return std::make_unique<ListedSource>(std::move(source), listing_);
  }

 private:
  const FileIndex index_;
  const StoredListing listing_;
  const ClassNames classes_;
  const std::vector<std::uint32_t> class_ids_;  // by record
};

Status FolderDataSet::cut(std::uint64_t record, std::span<const std::byte> bytes,
                          Fields& fields) const {
  clear_fields(fields);
  // An empty file is a failed copy, and no decoder accepts it.
  if (bytes.empty()) return Status(Code::kDataLoss, "the file is empty");
  const std::uint32_t id = class_ids_[record];
  const std::string_view extension =
      copy_to_scratch(fields, lower_ascii(file_extension(index_.path(record))));
  fields.fields.push_back({extension, bytes});
  const std::string_view number = copy_to_scratch(fields, fmt::format("{}", id));
  fields.fields.push_back({"cls", as_bytes(number)});
  fields.fields.push_back({"cls_name", as_bytes(classes_.name(id))});
  return {};
}

// Includes the class of each file: the fingerprint of the data set has only the names of local
// files.
std::string FolderDataSet::metadata_text() const {
  std::string text = classes_.text();
  for (const std::uint32_t id : class_ids_) text += fmt::format("{}\n", id);
  return text;
}

// The common prefix of all files of a listed folder; empty if the address is not a whole folder.
std::string root_of(const Listed& listed) {
  const std::string root = source::unescape_glob(listed.url);
  const bool fits = root.ends_with('/') && listed.objects.front().url.starts_with(root);
  return fits ? root : "";
}

// The class of a file below the root; nothing for files that are not records: hidden files and
// files without a class folder.
std::optional<std::string_view> class_of(std::string_view path) {
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos || slash == 0 || path.front() == '.') return std::nullopt;
  const std::size_t base = path.rfind('/') + 1;
  if (base == path.size() || path[base] == '.') return std::nullopt;
  return path.substr(0, slash);
}

ClassNames classes_found(const FileIndex& files) {
  std::vector<std::string> names;
  for (std::uint64_t record = 0; record < files.record_count(); ++record) {
    const auto name = class_of(files.path(record));
    if (name && (names.empty() || names.back() != *name)) names.emplace_back(*name);
  }
  return ClassNames::from_names(std::move(names));
}

Result<std::vector<std::uint32_t>> class_ids(const FileIndex& files, const ClassNames& classes,
                                             const std::string& names_file) {
  std::vector<std::uint32_t> ids;
  ids.reserve(files.record_count());
  for (std::uint64_t record = 0; record < files.record_count(); ++record) {
    const auto name = class_of(files.path(record));
    if (!name) {
      return Status(Code::kDataLoss, fmt::format("{} is in the listing but in no class folder",
                                                 files.shard(record).object.url));
    }
    const auto id = classes.id(*name);
    if (!id) {
      return Status(Code::kInvalidArgument,
                    fmt::format("{} is of class '{}', which {} does not name",
                                files.shard(record).object.url, *name, names_file));
    }
    ids.push_back(*id);
  }
  return ids;
}

// Keeps the files that are records. The number of the others is logged.
Result<FileIndex> files_in_classes(const std::vector<Listed>& listed) {
  FileIndex files;
  std::uint64_t left_out = 0;
  for (const Listed& folder : listed) {
    const std::string root = root_of(folder);
    if (root.empty()) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("format folder reads whole folders, and {} is not one: write the folder that "
                      "holds the class folders",
                      folder.url));
    }
    files.add_root(root);
    for (const source::ObjectInfo& object : folder.objects) {
      if (class_of(std::string_view(object.url).substr(root.size()))) {
        files.add(object);
      } else {
        ++left_out;
      }
    }
  }
  if (left_out > 0)
    log_info("record", "{} files are hidden or in no class folder: left out", left_out);
  files.shrink();
  return files;
}

// kInvalidArgument for a class that read.classes does not contain.
OpenedDataSet open_files(const OpenRequest& request, FolderFiles files) {
  const v1::Read& read = request.read;
  if (files.files.record_count() == 0) {
    return Status(Code::kNotFound,
                  fmt::format("{} holds no class folders with files: format folder expects "
                              "FOLDER/CLASS/FILE; of shards give FOLDER/*.tar, of files without "
                              "classes a list of them (format: files)",
                              read.url(0)));
  }
  ClassNames classes;
  if (read.classes().empty()) {
    classes = classes_found(files.files);
  } else {
    ECHOLINE_ASSIGN(classes, read_classes(read.classes(), request.source));
  }
  ECHOLINE_ASSIGN(std::vector<std::uint32_t> ids, class_ids(files.files, classes, read.classes()));
  return std::unique_ptr<DataSet>(
      std::make_unique<FolderDataSet>(std::move(files), std::move(classes), std::move(ids)));
}

Result<Match> match_folder(const FormatProbe& probe) {
  return probe.listed.front().url.ends_with('/') ? Match::kFolder : Match::kNone;
}

OpenedDataSet open_folder(const OpenRequest& request, std::vector<Listed> listed) {
  ECHOLINE_ASSIGN(FileIndex files, files_in_classes(listed));
  ECHOLINE_ASSIGN(FolderFiles kept,
                  request.folder_listing.keep(std::move(files), request.options.must_keep));
  return open_files(request, std::move(kept));
}

OpenedDataSet open_stored_folder(const OpenRequest& request) {
  std::optional<FolderFiles> files = request.folder_listing.find();
  if (!files) return std::unique_ptr<DataSet>();
  return open_files(request, std::move(*files));
}

}  // namespace

constinit const Format kFolderFormat = {
    .name = "folder",
    .match = match_folder,
    .open = open_folder,
    .open_stored = open_stored_folder,
};

}  // namespace echoline::record
