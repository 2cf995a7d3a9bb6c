// Lists local files.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "base/status.h"
#include "source/core/address.h"
#include "source/core/source.h"

namespace echoline::source {

// The version of a local file: size and modification time, "1234-1700000000.123456789".
std::string file_version(const struct stat& status);

// As Source::list.
Result<std::vector<ObjectInfo>> list_files(const Address& address);

}  // namespace echoline::source
