// What `echoline pack` reads and how it writes shards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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
  std::string output_dir;      // created if missing
  std::string name = "shard";  // shards are NAME-000000.tar, NAME-000001.tar, ...
  // A shard is closed before the record that would take it over one of these; 0 is no limit.
  std::uint64_t shard_bytes_max = 256ULL << 20;
  std::uint64_t shard_records_max = 0;
  // File of class names, one per line ("name", or "0 name"); the line number is the label. Without
  // it the sub-folders, sorted bytewise, are the classes, and the labels of a list are numbers.
  std::string classes;
  // IDX of uint8 [height, width] or [height, width, 3] as PNG instead of raw bytes.
  bool png = false;
  // Shuffles the records, by `seed`; otherwise sub-folders are packed one class after another.
  bool shuffle = false;
  std::uint64_t seed = 0;
  // Replaces existing shards of this name and removes those that the new run does not write.
  // Without it existing shards are an error.
  bool overwrite = false;
};

}  // namespace echoline::cli
