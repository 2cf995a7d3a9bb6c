// Options for opening a data set.
#pragma once

#include <cstdint>

#include "record/core/index.h"

namespace echoline::record {

// Whether a stored listing of a folder data set may be used (folder_listing.h). Publishing needs a
// new one.
enum class Listings : std::uint8_t { kReuse, kRefresh };

struct OpenOptions {
  Listings listings = Listings::kReuse;
  Checksums checksums = Checksums::kIfRead;
  // An index or a listing that cannot be stored below the state folder is an error, not a log line.
  bool must_keep = false;
  // Of a data set in Python (read.python), whose length only its processes know.
  std::uint64_t python_records = 0;
};

}  // namespace echoline::record
