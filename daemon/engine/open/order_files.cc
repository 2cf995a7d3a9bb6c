#include "engine/open/order_files.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>

#include "record/core/local_file.h"

namespace echoline::engine {
namespace {

constexpr std::string_view kEpoch = "{epoch}";
constexpr std::size_t kListsMax = 65536;

// The epoch of a file name between the given parts, as a decimal number without leading zeros.
std::optional<std::uint32_t> epoch_of(std::string_view name, std::string_view before,
                                      std::string_view after) {
  const bool fits = name.size() > before.size() + after.size() && name.starts_with(before) &&
                    name.ends_with(after);
  if (!fits) return std::nullopt;
  name = name.substr(before.size(), name.size() - before.size() - after.size());
  std::uint32_t epoch = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), epoch);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return fmt::format("{}", epoch) == name ? std::optional(epoch) : std::nullopt;
}

Result<std::vector<std::string>> numbered_files(const std::filesystem::path& pattern) {
  const std::filesystem::path folder =
      pattern.has_parent_path() ? pattern.parent_path() : std::filesystem::path(".");
  const std::string name = pattern.filename().string();
  const std::size_t at = name.find(kEpoch);
  const std::string before = name.substr(0, at), after = name.substr(at + kEpoch.size());
  const auto path_of = [&](std::uint32_t epoch) {
    return (folder / fmt::format("{}{}{}", before, epoch, after)).string();
  };
  std::set<std::uint32_t> epochs;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (const auto epoch = epoch_of(entry->path().filename().string(), before, after)) {
      epochs.insert(*epoch);
    }
    if (epochs.size() > kListsMax) {
      return Status(Code::kInvalidArgument, fmt::format("more than {} lists", kListsMax));
    }
  }
  if (error) return errno_status(error.value(), folder.string());
  std::vector<std::string> paths;
  // Also without any file, epoch 0 is named.
  const std::uint32_t last = epochs.empty() ? 0 : *epochs.rbegin();
  for (std::uint32_t epoch = 0; paths.size() <= last; ++epoch) {
    if (!epochs.contains(epoch)) {
      return Status(
          Code::kNotFound,
          fmt::format(
              "there is no list for epoch {}: {}{}", epoch, path_of(epoch),
              epochs.empty() ? "" : fmt::format(", but one for epoch {}", *epochs.rbegin())));
    }
    paths.push_back(path_of(epoch));
  }
  return paths;
}

}  // namespace

Result<std::vector<std::string>> order_files(const std::string& order) {
  const std::string path = record::local_path(order).value_or(order);
  if (path.find(kEpoch) == std::string::npos) return std::vector<std::string>{path};
  return numbered_files(path);
}

}  // namespace echoline::engine
