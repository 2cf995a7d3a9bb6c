#include "base/access_list.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace echoline {
namespace {

constexpr std::string_view kGroup = "group:";
constexpr std::size_t kEntryBytes = 64 << 10;  // enough for a group with many members

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Status unknown(const char* kind, const std::string& name) {
  return Status(Code::kInvalidArgument, std::string("this host knows no ") + kind + " '" + name +
                                            "'; a number is taken as it is");
}

Result<uid_t> user_of(const std::string& name) {
  if (const auto id = number(name)) return uid_t{*id};
  std::vector<char> text(kEntryBytes);
  passwd entry{};
  passwd* found = nullptr;
  ::getpwnam_r(name.c_str(), &entry, text.data(), text.size(), &found);
  return found != nullptr ? Result<uid_t>(found->pw_uid) : unknown("user", name);
}

Result<gid_t> group_of(const std::string& name) {
  if (const auto id = number(name)) return gid_t{*id};
  std::vector<char> text(kEntryBytes);
  group entry{};
  group* found = nullptr;
  ::getgrnam_r(name.c_str(), &entry, text.data(), text.size(), &found);
  return found != nullptr ? Result<gid_t>(found->gr_gid) : unknown("group", name);
}

}  // namespace

Result<AccessList> AccessList::parse(const std::string& key,
                                     const std::vector<std::string>& entries) {
  AccessList access;
  for (const std::string& entry : entries) {
    if (entry.starts_with(kGroup)) {
      auto group = group_of(entry.substr(kGroup.size()));
      if (!group.ok()) return group.status().with_context(key);
      access.groups_.push_back(*group);
    } else {
      auto user = user_of(entry);
      if (!user.ok()) return user.status().with_context(key);
      access.users_.push_back(*user);
    }
  }
  return access;
}

bool AccessList::names(const Peer& peer) const {
  if (std::find(users_.begin(), users_.end(), peer.uid) != users_.end()) return true;
  return std::any_of(groups_.begin(), groups_.end(), [&](gid_t group) {
    return peer.gid == group ||
           std::find(peer.groups.begin(), peer.groups.end(), group) != peer.groups.end();
  });
}

bool is_own(const Peer& peer) { return peer.uid == 0 || peer.uid == ::geteuid(); }

}  // namespace echoline
