// The ctime of a folder does not change with its sub-folders, so each of them is checked.
#include "record/index/folder_state.h"

#include <fmt/core.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

namespace echoline::record {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
// The coarsest timestamps of these file systems are in seconds.
constexpr std::int64_t kSettledNs = 2 * kSecondNs;
constexpr std::size_t kFoldersMax = 1'000'000;  // ends loops of links

constexpr std::int64_t kZfsMagic = 0x2fc12fc1, kLustreMagic = 0x0bd00bd0, kGpfsMagic = 0x47504653;

// Only file systems that are known to update the ctime of a folder.
bool stamps_folders(const std::string& folder) {
  constexpr std::int64_t kKnown[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC,  BTRFS_SUPER_MAGIC,
                                     F2FS_SUPER_MAGIC, TMPFS_MAGIC,      OVERLAYFS_SUPER_MAGIC,
                                     NFS_SUPER_MAGIC,  CEPH_SUPER_MAGIC, kZfsMagic,
                                     kLustreMagic,     kGpfsMagic};
  struct statfs info {};
  // Not known: it is safer to list again.
  if (::statfs(folder.c_str(), &info) != 0) return false;
  return std::find(std::begin(kKnown), std::end(kKnown), info.f_type) != std::end(kKnown);
}

std::optional<struct stat> stat_folder(const std::string& folder) {
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return std::nullopt;
  return info;
}

std::string version_of(const struct stat& info) {
  // Device and inode, because another folder may have taken the name.
  return fmt::format("{}-{}-{}.{:09}", info.st_dev, info.st_ino, info.st_ctim.tv_sec,
                     info.st_ctim.tv_nsec);
}

}  // namespace

std::optional<FolderStates> states_of(const std::set<std::string>& folders, std::int64_t now_ns) {
  FolderStates states;
  for (const std::string& folder : folders) {
    const auto info = stat_folder(folder);
    if (!info || !stamps_folders(folder)) return std::nullopt;
    const std::int64_t changed_ns = info->st_ctim.tv_sec * kSecondNs + info->st_ctim.tv_nsec;
    // A later change in the same clock tick would be invisible.
    if (changed_ns > now_ns - kSettledNs) return std::nullopt;
    states.push_back({folder, 0, version_of(*info)});
  }
  return states;
}

std::optional<std::set<std::string>> folders_below(const std::string& folder) {
  std::set<std::string> all = {folder};
  std::vector<std::string> to_read = {folder};
  while (!to_read.empty()) {
    const std::string at = std::move(to_read.back());
    to_read.pop_back();
    std::error_code error, no_folder;
    std::filesystem::directory_iterator entry(at, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
      // Files, and links to nothing.
      if (!entry->is_directory(no_folder)) continue;
      if (all.size() == kFoldersMax) return std::nullopt;
      // Each path once; kFoldersMax ends a loop of links, whose paths differ.
      if (all.insert(entry->path().native()).second) to_read.push_back(entry->path().native());
    }
    if (error) return std::nullopt;
  }
  return all;
}

bool are_unchanged(const FolderStates& states) {
  return std::all_of(states.begin(), states.end(), [](const source::ObjectInfo& state) {
    const auto info = stat_folder(state.url);
    return info && version_of(*info) == state.version;
  });
}

std::int64_t wall_clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace echoline::record
