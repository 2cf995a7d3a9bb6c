// Size and version of every file are requested, thousands at a time, unless an earlier start has
// stored them. From then on the version identifies the content.
#include "record/files/files_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/ascii.h"
#include "echoline/v1/config.pb.h"
#include "record/core/fields.h"
#include "record/core/local_file.h"
#include "record/files/class_names.h"
#include "record/files/list_table.h"
#include "record/index/file_index.h"
#include "record/index/index_path.h"
#include "record/index/kept_listing.h"
#include "record/index/listed_source.h"
#include "record/index/listing.h"

namespace echoline::record {
namespace {

constexpr std::uint64_t kFilesPerRequest = 4096;
constexpr std::string_view kLabel = "label";

// The classes of read.classes; empty if it is not set.
struct Classes {
  ClassNames names;
  std::vector<std::uint32_t> ids;  // by record
};

class FilesDataSet final : public DataSet {
 public:
  FilesDataSet(FileIndex index, StoredListing listing, ListTable table, Classes classes)
      : index_(std::move(index)),
        listing_(std::move(listing)),
        table_(std::move(table)),
        classes_(std::move(classes)) {}
  const Index& index() const override { return index_; }
  std::string_view format() const override { return "files"; }
  Status cut(std::uint64_t record, std::span<const std::byte> bytes, Fields& fields) const override;
  std::string metadata_text() const override;
  std::unique_ptr<source::Source> reading(std::unique_ptr<source::Source> source) const override {
    return std::make_unique<ListedSource>(std::move(source), listing_);
  }

 private:
  const FileIndex index_;
  const StoredListing listing_;
  const ListTable table_;
  const Classes classes_;
};

Status FilesDataSet::cut(std::uint64_t record, std::span<const std::byte> bytes,
                         Fields& fields) const {
  clear_fields(fields);
  if (bytes.empty()) return Status(Code::kDataLoss, "the file is empty");
  const std::string extension = lower_ascii(file_extension(index_.path(record)));
  fields.fields.push_back({copy_to_scratch(fields, extension), bytes});
  for (std::size_t i = 0; i < table_.columns().size(); ++i) {
    const std::string_view value = table_.value(record, i);
    if (table_.columns()[i] != kLabel) {
      fields.fields.push_back({table_.columns()[i], as_bytes(value)});
    } else if (classes_.names.size() == 0) {
      fields.fields.push_back({"cls", as_bytes(value)});
    } else {
      const std::string_view number =
          copy_to_scratch(fields, fmt::format("{}", classes_.ids[record]));
      fields.fields.push_back({"cls", as_bytes(number)});
      fields.fields.push_back({"cls_name", as_bytes(value)});
    }
  }
  return {};
}

std::string FilesDataSet::metadata_text() const {
  std::string text = classes_.names.text();
  for (std::size_t column = 0; column < table_.columns().size(); ++column) {
    text.append(table_.columns()[column]).push_back('\n');
    for (std::uint64_t row = 0; row < table_.rows(); ++row) {
      text.append(table_.value(row, column)).push_back('\n');
    }
  }
  return text;
}

// A list and the folder that its paths are relative to.
struct List {
  std::string url;
  std::string root;
  ListTable table;

  std::string address(std::uint64_t row) const {
    std::string_view path = table.path(row);
    // Whole addresses and absolute paths are not relative to the list.
    const bool whole = path.find("://") != std::string_view::npos || path.starts_with('/');
    if (whole) return std::string(path);
    if (path.starts_with("./")) path.remove_prefix(2);
    return root + std::string(path);
  }
};

Result<std::vector<List>> read_lists(const std::vector<source::ObjectInfo>& objects,
                                     source::Source& source) {
  std::vector<List> lists;
  for (const source::ObjectInfo& object : objects) {
    ECHOLINE_ASSIGN(const std::vector<std::byte> text, read_bytes(source, object, 0, object.bytes));
    auto table =
        ListTable::parse(object.url, {reinterpret_cast<const char*>(text.data()), text.size()});
    if (!table.ok()) return std::move(table).status().with_context(object.url);
    const std::string root = object.url.substr(0, object.url.rfind('/') + 1);
    lists.push_back({object.url, root, std::move(*table)});
  }
  return lists;
}

Status add_ids(const List& list, Classes& classes) {
  const std::vector<std::string>& columns = list.table.columns();
  const auto label = std::find(columns.begin(), columns.end(), kLabel);
  if (label == columns.end()) {
    return Status(Code::kInvalidArgument, "read.classes is given, and no column is called 'label'");
  }
  const auto column = static_cast<std::size_t>(label - columns.begin());
  for (std::uint64_t row = 0; row < list.table.rows(); ++row) {
    const std::string_view name = list.table.value(row, column);
    const auto id = classes.names.id(name);
    if (!id) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("{} is of class '{}', which read.classes does not name; add it there",
                      list.table.path(row), name));
    }
    classes.ids.push_back(*id);
  }
  return {};
}

Status stat_files(const List& list, source::Source& source, const ProgressFunction& progress,
                  FileIndex& files) {
  std::string current = list.root;
  files.add_root(list.root);
  const std::uint64_t rows = list.table.rows();
  for (std::uint64_t row = 0; row < rows;) {
    std::vector<std::string> urls;
    const std::uint64_t end = std::min(rows, row + kFilesPerRequest);
    for (; row < end; ++row) urls.push_back(escape_glob(list.address(row)));
    ECHOLINE_ASSIGN(const std::vector<source::ObjectInfo> objects, source.list_all(urls));
    if (objects.size() != urls.size()) {
      return Status(Code::kInvalidArgument, "an entry matches more than one file");
    }
    for (const source::ObjectInfo& object : objects) {
      const std::string& wanted = object.url.starts_with(list.root) ? list.root : std::string();
      if (wanted != current) files.add_root(wanted);
      current = wanted;
      files.add(object);
    }
    if (progress) ECHOLINE_TRY(progress({row, rows, 0, 0, files.record_count()}));
  }
  return {};
}

// Whether these are the files of the lists, row by row.
bool matches_lists(const FileIndex& files, const std::vector<List>& lists) {
  std::uint64_t record = 0;
  for (const List& list : lists) {
    for (std::uint64_t row = 0; row < list.table.rows(); ++row, ++record) {
      if (record == files.record_count()) return false;
      const std::string address = list.address(row);
      const std::string_view root = files.root_of(record);
      if (!address.starts_with(root) || address.substr(root.size()) != files.path(record)) {
        return false;
      }
    }
  }
  return record == files.record_count();
}

std::set<std::string> folders_of(const std::vector<List>& lists) {
  std::set<std::string> folders;
  for (const List& list : lists) {
    for (std::uint64_t row = 0; row < list.table.rows(); ++row) {
      const std::string path = local_path(list.address(row)).value_or("");
      const std::size_t slash = path.rfind('/');
      folders.insert(slash == std::string::npos ? "." : path.substr(0, slash + 1));
    }
  }
  return folders;
}

Result<FileIndex> find_files(const std::vector<List>& lists, const std::string& kept,
                             const OpenRequest& request) {
  std::optional<FolderStates> folders;
  if (!kept.empty()) {
    std::optional<FileIndex> known = load_listing(kept);
    // The lists may have changed since the listing was stored.
    if (known && matches_lists(*known, lists)) return std::move(*known);
    // Before the files are looked up: folders that change meanwhile make the stored listing
    // invalid.
    const std::int64_t now_ns = wall_clock_ns();
    folders = states_of(folders_of(lists), now_ns);
  }
  FileIndex files;
  for (const List& list : lists) {
    Status asked = stat_files(list, request.source, request.progress, files);
    if (!asked.ok()) return std::move(asked).with_context(list.url);
  }
  files.shrink();
  if (folders) {
    ECHOLINE_TRY(keep_listing(kept, files, *folders, request.options.must_keep));
  }
  return files;
}

OpenedDataSet open_files(const OpenRequest& request, std::vector<Listed> listed) {
  const v1::Read& read = request.read;
  const std::vector<source::ObjectInfo> lists = flatten(std::move(listed));
  Classes classes;
  if (!read.classes().empty()) {
    ECHOLINE_ASSIGN(classes.names, read_classes(read.classes(), request.source));
  }
  ECHOLINE_ASSIGN(const std::vector<List> parsed, read_lists(lists, request.source));
  ListTable table;
  for (const List& list : parsed) {
    Status status = table.append(list.table);
    if (status.ok() && classes.names.size() > 0) status = add_ids(list, classes);
    if (!status.ok()) return std::move(status).with_context(list.url);
  }
  if (table.rows() == 0) {
    return Status(Code::kNotFound, fmt::format("{} lists no files", lists.front().url));
  }
  const bool local = local_path(lists.front().url).has_value();
  const std::string kept = local && !request.state_dir.empty()
                               ? stored_index_path(read, "files", request.state_dir)
                               : "";
  ECHOLINE_ASSIGN(FileIndex files, find_files(parsed, kept, request));
  return std::unique_ptr<DataSet>(std::make_unique<FilesDataSet>(
      std::move(files), StoredListing{kept, {}}, std::move(table), std::move(classes)));
}

}  // namespace

constinit const Format kFilesFormat = {.name = "files", .open = open_files};

}  // namespace echoline::record
