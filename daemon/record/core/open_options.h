// How a data set is opened.
#pragma once

#include "record/core/index.h"

namespace echoline::record {

// Whether a kept listing of a folder data set may be used (folder_listing.h). A publisher lists the
// folder again.
enum class Listings { kTrusted, kMadeAnew };

struct OpenOptions {
  Listings listings = Listings::kTrusted;
  Checksums checksums = Checksums::kOfWhatIsRead;
};

}  // namespace echoline::record
