#include "pack/open_input.h"

#include <filesystem>

#include "pack/pack_folder.h"
#include "pack/pack_idx.h"
#include "pack/pack_list.h"

namespace echoline::cli {
namespace {

// By the name and kind of the path; no file is read.
PackFrom detect_input(const std::string& path) {
  std::error_code error;
  if (path.ends_with('/') || std::filesystem::is_directory(path, error)) return PackFrom::kFolder;
  return path.ends_with(".csv") ? PackFrom::kList : PackFrom::kIdx;
}

}  // namespace

Result<std::unique_ptr<PackInput>> open_input(const PackOptions& options) {
  if (options.inputs.empty())
    return Status(Code::kInvalidArgument, "nothing to pack: name an input");
  const bool detect = options.from == PackFrom::kAuto;
  switch (detect ? detect_input(options.inputs.front()) : options.from) {
    case PackFrom::kFolder:
      return open_folder_input(options);
    case PackFrom::kList:
      // IDX files are checked by their content when they are read.
      return open_list_input(options);
    case PackFrom::kIdx:
    case PackFrom::kAuto:
      break;
  }
  return open_idx_input(options);
}

}  // namespace echoline::cli
