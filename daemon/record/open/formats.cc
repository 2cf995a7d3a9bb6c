// To add a format: write its folder record/NAME with a `const Format`, and add one line here.
#include "record/open/formats.h"

#include <algorithm>
#include <iterator>

#include "record/arrays/array_sets.h"
#include "record/files/files_set.h"
#include "record/files/folder_set.h"
#include "record/lines/line_sets.h"
#include "record/mds/mds_set.h"
#include "record/megatron/sequence_set.h"
#include "record/parquet/parquet_set.h"
#include "record/tar/webdataset.h"
#include "record/tfrecord/tfrecord.h"

namespace echoline::record {
namespace {

constexpr const Format* kFormats[] = {
    &kWebDatasetFormat,  //
    &kTfRecordFormat,    //
    &kMdsFormat,         //
    &kParquetFormat,     //
    &kJsonLinesFormat,   //
    &kLinesFormat,       //
    &kFolderFormat,      //
    &kFilesFormat,       //
    &kIdxFormat,         //
    &kTokensFormat,      //
    &kMegatronFormat,    //
};

}  // namespace

std::span<const Format* const> formats() { return kFormats; }

const Format* find_format(std::string_view name) {
  const auto found = std::find_if(std::begin(kFormats), std::end(kFormats),
                                  [name](const Format* format) { return format->name == name; });
  return found == std::end(kFormats) ? nullptr : *found;
}

bool is_auto_format(std::string_view name) { return name.empty() || name == "auto"; }

std::string format_names() {
  std::string names;
  for (const Format* format : kFormats) {
    if (!names.empty()) names += format == *std::rbegin(kFormats) ? " or " : ", ";
    names += format->name;
  }
  return names;
}

}  // namespace echoline::record
