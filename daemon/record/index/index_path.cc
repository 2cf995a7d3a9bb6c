#include "record/index/index_path.h"

#include <fmt/core.h>
#include <xxhash.h>

#include "echoline/v1/config.pb.h"

namespace echoline::record {
namespace {

// Addresses are hashed with their lengths: ["ab", "c"] and ["a", "bc"] are two data sets.
std::string describe(const v1::Read& read, std::string_view format) {
  std::string text = fmt::format("{} 1;{};", format, read.endpoint());
  for (const std::string& url : read.url()) text += fmt::format("{}:{};", url.size(), url);
  // The places of rows depend on the columns that are read.
  for (const std::string& name : read.parquet().columns()) {
    text += fmt::format("column {}:{};", name.size(), name);
  }
  return text;
}

}  // namespace

std::string stored_index_path(const v1::Read& read, std::string_view format,
                              const std::string& state_dir) {
  const std::string text = describe(read, format);
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{}/indexes/{:016x}{:016x}.idx", state_dir, hash.high64, hash.low64);
}

}  // namespace echoline::record
