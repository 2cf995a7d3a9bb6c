// Packs IDX files, class folders and lists of files into WebDataset shards, each with a sidecar
// index, so that small files become large reads. The same input produces the same bytes.
#pragma once

#include <cstdint>
#include <functional>

#include "base/status.h"
#include "pack/pack_options.h"

namespace echoline::cli {

struct PackProgress {
  std::uint64_t records_done = 0, records = 0, shards = 0, bytes = 0;
};

// Writes the shards and their "NAME-000000.tar.echoline-index" files; each file appears complete or
// not at all. Members of a record: NUMBER.EXT and, if there is a label, NUMBER.cls (decimal). IDX
// items are raw little-endian elements with their type as extension ("u8", "i16", "f32", ...), or
// "png"; a file of a folder or list keeps its extension, lower-cased. Returns what was written.
// Blocks; single-threaded; calls `progress` on the calling thread.
Result<PackProgress> pack(const PackOptions& options,
                          const std::function<void(const PackProgress&)>& progress = {});

}  // namespace echoline::cli
