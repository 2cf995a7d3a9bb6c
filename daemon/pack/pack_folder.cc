// Reads folders through the daemon's format `folder`, so that classes and order are the same
// whether a folder is packed or streamed.
#include "pack/pack_folder.h"

#include <utility>
#include <vector>

#include "echoline/v1/config.pb.h"
#include "record/core/data_set.h"
#include "record/open/open_data_set.h"
#include "source/core/source.h"
#include "source/open/open_source.h"

namespace echoline::cli {
namespace {

class FolderInput final : public PackInput {
 public:
  FolderInput(std::unique_ptr<source::Source> source, std::unique_ptr<record::DataSet> set)
      : source_(std::move(source)), set_(std::move(set)) {}

  std::uint64_t count() const override { return set_->index().record_count(); }

  Status read(std::uint64_t record, PackItem& item) override {
    const record::Extent extent = set_->index().extent(record);
    const source::ObjectInfo object = set_->index().shards()[extent.shard].object;
    ECHOLINE_ASSIGN(const std::vector<std::byte> bytes,
                    source::read_range(*source_, object, 0, object.bytes));
    // The format cuts the file into its bytes and its class.
    const Status cut = set_->cut(record, bytes, fields_);
    if (!cut.ok()) return Status(cut).with_context(object.url);
    // The name of the first field is the file's extension.
    item.extension = fields_.fields.front().name;
    item.data.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    // Format folder has a class for every record.
    const auto label = fields_.find("cls")->bytes;
    item.label.emplace(reinterpret_cast<const char*>(label.data()), label.size());
    return {};
  }

 private:
  std::unique_ptr<source::Source> source_;
  std::unique_ptr<record::DataSet> set_;
  record::Fields fields_;
};

}  // namespace

Result<std::unique_ptr<PackInput>> open_folder_input(const PackOptions& options) {
  v1::Read read;
  for (const std::string& input : options.inputs) read.add_url(input);
  read.set_format("folder");
  read.set_classes(options.classes);
  // One file at a time is read, so more requests would have no use.
  read.set_concurrency(1);
  ECHOLINE_ASSIGN(std::unique_ptr<source::Source> source, source::open_source(read));
  ECHOLINE_ASSIGN(std::unique_ptr<record::DataSet> set,
                  record::open_data_set(read, *source, "", {}));
  return std::unique_ptr<PackInput>(
      std::make_unique<FolderInput>(std::move(source), std::move(set)));
}

}  // namespace echoline::cli
