// Packs IDX files, class folders and lists of files into WebDataset shards with an index beside
// each, so that small files become large reads. The same input makes the same bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"

namespace echoline::cli {

enum class PackFrom : std::uint8_t {
  kAuto,    // a folder; a .csv file; else IDX by its magic
  kIdx,     // inputs: images [, labels], plain or .gz
  kFolder,  // inputs: one folder whose sub-folders are the classes
  kList,    // inputs: one CSV file of "path,label" lines; paths are relative to the CSV file
};

struct PackOptions {
  PackFrom from = PackFrom::kAuto;
  std::vector<std::string> inputs;
  std::string output_dir;      // made if missing
  std::string name = "shard";  // shards are NAME-000000.tar, NAME-000001.tar, ...
  // A shard is closed before the record that would take it over one of these; 0 is no limit.
  std::uint64_t shard_bytes_max = 256ULL << 20;
  std::uint64_t shard_records_max = 0;
  // File of class names, one a line ("name", or "0 name"); the line's number is the label. Without
  // it the sub-folders sorted bytewise are the classes, and the labels of a list are numbers.
  std::string classes;
  // IDX of uint8 [height, width] or [height, width, 3] as PNG instead of raw bytes.
  bool png = false;
  // Mix the records first, by `seed`: sub-folders are packed class after class otherwise.
  bool shuffle = false;
  std::uint64_t seed = 0;
  // Replace shards of this name that are in the way (and take away those left over); refused
  // otherwise.
  bool overwrite = false;
};

struct PackProgress {
  std::uint64_t records_done = 0, records = 0, shards = 0, bytes = 0;
};

// Writes the shards and their "NAME-000000.tar.echoline-index" files; each appears complete or not
// at all. Members of a record: NUMBER.EXT and, where there is a label, NUMBER.cls (decimal). IDX
// items are raw little-endian elements with their type as extension ("u8", "i16", "f32", ...), or
// "png"; a file of a folder or list keeps its own, lower-cased. Returns what was written; blocks,
// single-threaded.
Result<PackProgress> pack(const PackOptions& options,
                          const std::function<void(const PackProgress&)>& progress = {});

}  // namespace echoline::cli
