// A format of data sets: how it is recognised and how it is opened. record/open/formats.cc has the
// table of all formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "record/core/data_set.h"
#include "record/core/open_options.h"
#include "record/index/folder_listing.h"
#include "record/index/listing.h"

namespace echoline::record {

// What a format opens a data set with. The caller owns all of it; nothing here outlives the call.
struct OpenRequest {
  const v1::Read& read;
  source::Source& source;            // used on the calling thread only
  const std::string& state_dir;      // empty: nothing is stored for the next start
  const ProgressFunction& progress;  // may be empty
  OpenOptions options;
  const FolderListing& folder_listing;  // of the addresses of `read`
};

// What a format can look at to recognise its data.
struct FormatProbe {
  const v1::Read& read;
  source::Source& source;
  const std::vector<Listed>& listed;  // one entry per address, none of them empty
  // The first bytes of the first object, uncompressed: kProbeBytes, or all if it is smaller.
  std::span<const std::byte> head;
  std::uint64_t object_bytes = 0;  // size of the first object, UINT64_MAX if it is compressed
};

// Enough for the header of an array file; a tar header and the start of a record are shorter.
inline constexpr std::uint64_t kProbeBytes = 4096;

// How sure a format is that data is its own, in ascending order: the strongest match wins, and of
// equal ones the first in the table.
enum class Match : std::uint8_t {
  kNone,
  kConfigured,  // `read` has settings of this format
  kFolder,      // the address is a folder that nothing stronger explains
  kContent,     // the first bytes
  kIndexFile,   // an index file of this format, which names the data
};

using OpenedDataSet = Result<std::unique_ptr<DataSet>>;

// One row of the table. Functions that a format does not need are null.
struct Format {
  std::string_view name;  // as in read.format
  // Null: auto never chooses this format. An error ends the detection.
  Result<Match> (*match)(const FormatProbe& probe) = nullptr;
  // Opens what has been listed. Never null.
  OpenedDataSet (*open)(const OpenRequest& request, std::vector<Listed> listed) = nullptr;
  // Opens without listing anything, by what an earlier start stored; a null data set if that does
  // not work. For format auto, too.
  OpenedDataSet (*open_stored)(const OpenRequest& request) = nullptr;
  // Before the detection: replaces the listing of an index file by the objects that it names.
  Status (*expand)(source::Source& source, std::vector<Listed>& listed) = nullptr;
  // Also reads gzip, zstd and bzip2 objects: `match` is asked about their uncompressed bytes.
  bool reads_compressed = false;
  // Of those, whether an object that begins with these bytes is a zlib stream. Null: none is.
  bool (*is_zlib)(std::span<const std::byte> head) = nullptr;
  // The first start reads through every shard, unless each has a sidecar index.
  bool scans_shards = false;
};

}  // namespace echoline::record
