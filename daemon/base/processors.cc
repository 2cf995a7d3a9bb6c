#include "base/processors.h"

#include <algorithm>
#include <fstream>
#include <optional>

namespace echoline {
namespace {

// The CPU time allowed per period, and the period, in microseconds.
struct Quota {
  std::int64_t quota = 0;
  std::int64_t period = 0;
};

// Version 2 has one file: "150000 100000", or "max 100000" for no limit. Version 1 has a file for
// each, and -1 means no limit.
std::optional<Quota> quota_of(const ControlGroup& group) {
  Quota quota;
  if (group.version2) {
    std::ifstream file(group.folder / "cpu.max");
    if (!(file >> quota.quota >> quota.period)) return std::nullopt;
  } else {
    std::ifstream of_quota(group.folder / "cpu.cfs_quota_us");
    std::ifstream of_period(group.folder / "cpu.cfs_period_us");
    if (!(of_quota >> quota.quota) || !(of_period >> quota.period)) return std::nullopt;
  }
  if (quota.quota <= 0 || quota.period <= 0) return std::nullopt;
  return quota;
}

}  // namespace

std::uint32_t usable_processors(std::uint32_t of_machine, const KernelFolders& folders) {
  std::int64_t least = std::max<std::uint32_t>(of_machine, 1);
  for (const ControlGroup& group : control_groups("cpu", folders)) {
    const std::optional<Quota> limit = quota_of(group);
    if (limit) least = std::min(least, (limit->quota - 1) / limit->period + 1);
  }
  return static_cast<std::uint32_t>(least);
}

}  // namespace echoline
