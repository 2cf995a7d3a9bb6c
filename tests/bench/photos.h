// The photos that the programs here measure with.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace echoline::bench {

inline double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Calls `use`(the tar's bytes, offset, length) for each JPEG file of a tar (POSIX ustar).
template <typename Use>
void for_each_photo(const char* path, const Use& use) {
  constexpr std::size_t kBlock = 512;
  std::ifstream stream(path, std::ios::binary);
  const std::string tar((std::istreambuf_iterator<char>(stream)), {});
  for (std::size_t at = 0; at + kBlock <= tar.size() && tar[at] != '\0';) {
    const std::string_view name(tar.data() + at, strnlen(tar.data() + at, 100));
    const std::size_t bytes = std::strtoul(tar.data() + at + 124, nullptr, 8);
    if (name.ends_with(".jpg")) use(tar, at + kBlock, bytes);
    at += kBlock + (bytes + kBlock - 1) / kBlock * kBlock;
  }
}

inline void read_shard(const char* path, std::vector<std::string>& photos) {
  for_each_photo(path, [&](const std::string& tar, std::size_t offset, std::size_t bytes) {
    photos.push_back(tar.substr(offset, bytes));
  });
}

}  // namespace echoline::bench
