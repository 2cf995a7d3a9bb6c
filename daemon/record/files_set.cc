// Every file is asked for once, thousands at a time; its version pins it from then on.
#include "record/files_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "echoline/v1/config.pb.h"
#include "record/class_names.h"
#include "record/fields.h"
#include "record/file_index.h"
#include "record/list_table.h"
#include "record/listing.h"
#include "record/tar_member.h"

namespace echoline::record {
namespace {

constexpr std::uint64_t kAskedAtOnce = 4096;
constexpr std::string_view kLabel = "label";

class FilesDataSet final : public DataSet {
 public:
  FilesDataSet(FileIndex index, ListTable table, ClassNames classes)
      : index_(std::move(index)), table_(std::move(table)), classes_(std::move(classes)) {}
  const Index& index() const override { return index_; }
  std::string_view format() const override { return "files"; }
  Status cut(std::uint64_t record, std::span<const std::byte> bytes, Fields& fields) const override;
  std::string values_beside() const override;

 private:
  const FileIndex index_;
  const ListTable table_;
  const ClassNames classes_;
};

Status FilesDataSet::cut(std::uint64_t record, std::span<const std::byte> bytes,
                         Fields& fields) const {
  clear_fields(fields);
  if (bytes.empty()) return Status(Code::kDataLoss, "the file is empty");
  const std::string extension = lower_ascii(file_extension(index_.path(record)));
  fields.fields.push_back({keep(fields, extension), bytes});
  for (std::size_t i = 0; i < table_.columns().size(); ++i) {
    const std::string_view value = table_.value(record, i);
    if (table_.columns()[i] != kLabel) {
      fields.fields.push_back({table_.columns()[i], as_bytes(value)});
    } else if (classes_.size() == 0) {
      fields.fields.push_back({"cls", as_bytes(value)});
    } else {
      const std::string_view number = keep(fields, fmt::format("{}", index_.class_id(record)));
      fields.fields.push_back({"cls", as_bytes(number)});
      fields.fields.push_back({"cls_name", as_bytes(value)});
    }
  }
  return {};
}

std::string FilesDataSet::values_beside() const {
  std::string text = classes_.text();
  for (std::size_t column = 0; column < table_.columns().size(); ++column) {
    text.append(table_.columns()[column]).push_back('\n');
    for (std::uint64_t row = 0; row < table_.rows(); ++row) {
      text.append(table_.value(row, column)).push_back('\n');
    }
  }
  return text;
}

// What is filled list by list.
struct Files {
  FileIndex index;
  ListTable table;
  ClassNames classes;
};

Result<std::uint32_t> class_of(const ListTable& list, std::uint64_t row, const Files& files) {
  if (files.classes.size() == 0) return 0;
  const auto label = std::find(list.columns().begin(), list.columns().end(), kLabel);
  if (label == list.columns().end()) {
    return Status(Code::kInvalidArgument, "read.classes is given, and no column is called 'label'");
  }
  const std::string_view name =
      list.value(row, static_cast<std::size_t>(label - list.columns().begin()));
  const auto id = files.classes.id(name);
  if (id) return *id;
  return Status(
      Code::kInvalidArgument,
      fmt::format("{} is of class '{}', which read.classes does not name", list.path(row), name));
}

// The address of a listed path.
std::string address_of(const std::string& root, std::string_view path) {
  const bool whole = path.find("://") != std::string_view::npos || path.starts_with('/');
  if (whole) return std::string(path);
  if (path.starts_with("./")) path.remove_prefix(2);
  return root + std::string(path);
}

Status add_list(const std::string& list_url, const ListTable& list, source::Source& source,
                const ProgressFunction& progress, Files& files) {
  const std::string root = list_url.substr(0, list_url.rfind('/') + 1);
  std::string current = root;
  files.index.add_root(root);
  for (std::uint64_t row = 0; row < list.rows();) {
    std::vector<std::string> urls;
    const std::uint64_t end = std::min(list.rows(), row + kAskedAtOnce);
    for (std::uint64_t i = row; i < end; ++i) {
      urls.push_back(escape_glob(address_of(root, list.path(i))));
    }
    ECHOLINE_ASSIGN(const std::vector<source::ObjectInfo> objects, source.list_all(urls));
    if (objects.size() != urls.size()) {
      return Status(Code::kInvalidArgument, "an entry stands for more than one file");
    }
    for (const source::ObjectInfo& object : objects) {
      ECHOLINE_ASSIGN(const std::uint32_t id, class_of(list, row++, files));
      const std::string& wanted = object.url.starts_with(root) ? root : std::string();
      if (wanted != current) files.index.add_root(wanted);
      current = wanted;
      files.index.add(object, id);
    }
    if (progress) progress({row, list.rows(), 0, 0, files.index.record_count()});
  }
  return files.table.append(list);
}

}  // namespace

Result<std::unique_ptr<DataSet>> open_files(const v1::Read& read,
                                            const std::vector<source::ObjectInfo>& lists,
                                            source::Source& source,
                                            const ProgressFunction& progress) {
  Files files;
  if (!read.classes().empty()) {
    ECHOLINE_ASSIGN(files.classes, read_classes(read.classes(), source));
  }
  for (const source::ObjectInfo& object : lists) {
    ECHOLINE_ASSIGN(const std::vector<std::byte> text, read_bytes(source, object, 0, object.bytes));
    auto list =
        ListTable::parse(object.url, {reinterpret_cast<const char*>(text.data()), text.size()});
    if (!list.ok()) return std::move(list).status().with_context(object.url);
    Status added = add_list(object.url, *list, source, progress, files);
    if (!added.ok()) return std::move(added).with_context(object.url);
  }
  files.index.shrink();
  if (files.index.record_count() == 0) {
    return Status(Code::kNotFound, fmt::format("{} lists no files", lists.front().url));
  }
  return std::unique_ptr<DataSet>(std::make_unique<FilesDataSet>(
      std::move(files.index), std::move(files.table), std::move(files.classes)));
}

}  // namespace echoline::record
