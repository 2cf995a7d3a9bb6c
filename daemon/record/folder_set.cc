// The listing is the index: nothing is stored, and a changed file is noticed by its version when it
// is read.
#include "record/folder_set.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "base/log.h"
#include "echoline/v1/config.pb.h"
#include "record/fields.h"
#include "record/file_index.h"
#include "record/tar_member.h"
#include "source/glob.h"

namespace echoline::record {
namespace {

class FolderDataSet final : public DataSet {
 public:
  FolderDataSet(FileIndex index, ClassNames classes)
      : index_(std::move(index)), classes_(std::move(classes)) {}
  const Index& index() const override { return index_; }
  std::string_view format() const override { return "folder"; }
  Status cut(std::uint64_t record, std::span<const std::byte> bytes, Fields& fields) const override;
  std::string values_beside() const override;

 private:
  const FileIndex index_;
  const ClassNames classes_;
};

Status FolderDataSet::cut(std::uint64_t record, std::span<const std::byte> bytes,
                          Fields& fields) const {
  clear_fields(fields);
  if (bytes.empty()) return Status(Code::kDataLoss, "the file is empty");
  const std::uint32_t id = index_.class_id(record);
  const std::string_view extension = keep(fields, lower_ascii(file_extension(index_.path(record))));
  fields.fields.push_back({extension, bytes});
  const std::string_view number = keep(fields, fmt::format("{}", id));
  fields.fields.push_back({"cls", as_bytes(number)});
  fields.fields.push_back({"cls_name", as_bytes(classes_.name(id))});
  return {};
}

// Which class each file is of, too: the fingerprint knows local files by their names alone.
std::string FolderDataSet::values_beside() const {
  std::string text = classes_.text();
  for (std::uint64_t record = 0; record < index_.record_count(); ++record) {
    text += fmt::format("{}\n", index_.class_id(record));
  }
  return text;
}

// The address that every file of a listing begins with; empty for a listing of no whole folder.
std::string root_of(const Listed& listed) {
  const std::string root = source::unescape_glob(listed.url);
  const bool fits = root.ends_with('/') && listed.objects.front().url.starts_with(root);
  return fits ? root : "";
}

// The class of a file below the root, or nothing for files that are no records.
std::optional<std::string_view> class_of(std::string_view path) {
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos || slash == 0 || path.front() == '.') return std::nullopt;
  const std::size_t base = path.rfind('/') + 1;
  if (base == path.size() || path[base] == '.') return std::nullopt;
  return path.substr(0, slash);
}

// A listing with its root found: the classes of its files are known by their paths.
struct Folder {
  Listed listed;
  std::string root;
};

Result<std::vector<Folder>> find_roots(std::vector<Listed> all) {
  std::vector<Folder> folders;
  for (Listed& listed : all) {
    std::string root = root_of(listed);
    if (root.empty()) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("format folder reads whole folders, and {} is none: write the folder that "
                      "holds the class folders",
                      listed.url));
    }
    folders.push_back({std::move(listed), std::move(root)});
  }
  return folders;
}

ClassNames classes_found(const std::vector<Folder>& folders) {
  std::vector<std::string> names;
  for (const Folder& folder : folders) {
    for (const source::ObjectInfo& object : folder.listed.objects) {
      const auto name = class_of(std::string_view(object.url).substr(folder.root.size()));
      if (name && (names.empty() || names.back() != *name)) names.emplace_back(*name);
    }
  }
  return ClassNames::from_names(std::move(names));
}

}  // namespace

Result<std::unique_ptr<DataSet>> open_folder(const v1::Read& read, std::vector<Listed> listed,
                                             source::Source& source) {
  ECHOLINE_ASSIGN(const std::vector<Folder> folders, find_roots(std::move(listed)));
  ClassNames classes;
  if (read.classes().empty()) {
    classes = classes_found(folders);
  } else {
    ECHOLINE_ASSIGN(classes, read_classes(read.classes(), source));
  }
  FileIndex index;
  std::uint64_t left_out = 0;
  for (const Folder& folder : folders) {
    index.add_root(folder.root);
    for (const source::ObjectInfo& object : folder.listed.objects) {
      const auto name = class_of(std::string_view(object.url).substr(folder.root.size()));
      if (!name) {
        ++left_out;
        continue;
      }
      const auto id = classes.id(*name);
      if (!id) {
        return Status(Code::kInvalidArgument,
                      fmt::format("{} is of class '{}', which {} does not name", object.url, *name,
                                  read.classes()));
      }
      index.add(object, *id);
    }
  }
  if (left_out > 0)
    log_info("record", "{} files are hidden or in no class folder: left out", left_out);
  index.shrink();
  if (index.record_count() == 0) {
    return Status(Code::kNotFound,
                  fmt::format("{} holds no class folders with files: format folder wants "
                              "FOLDER/CLASS/FILE; of shards give FOLDER/*.tar, of files without "
                              "classes a list of them (format: files)",
                              read.url(0)));
  }
  return std::unique_ptr<DataSet>(
      std::make_unique<FolderDataSet>(std::move(index), std::move(classes)));
}

}  // namespace echoline::record
