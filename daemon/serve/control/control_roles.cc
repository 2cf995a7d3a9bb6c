#include "serve/control/control_roles.h"

#include <fmt/format.h>
#include <pwd.h>

#include <algorithm>

#include "base/sanitize_name.h"
#include "config/control.h"

namespace echoline::serve {
namespace {

constexpr std::string_view kControl = "/echoline.v1.Control/";
constexpr std::string_view kHealth = "/grpc.health.v1.Health/";
constexpr std::string_view kReflection = "/grpc.reflection.";
constexpr std::string_view kAnySubject = "CN=*";

// For messages only: rights depend on the number.
std::string name_of_user(uid_t uid) {
  std::vector<char> text(16 << 10);
  passwd entry{};
  passwd* found = nullptr;
  ::getpwuid_r(uid, &entry, text.data(), text.size(), &found);
  return found != nullptr ? fmt::format("user {} ({})", found->pw_name, uid)
                          : fmt::format("user {}", uid);
}

bool any_is_listed(const std::vector<std::string>& names, const std::vector<std::string>& listed) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::any_of(listed.begin(), listed.end(), [&](const std::string& one) {
      // "CN=*" admits any certificate with a subject that the authority has signed.
      return one == name || (one == kAnySubject && name.starts_with("CN="));
    });
  });
}

// By its name: a new method that changes something must not begin with Get, List or Watch.
bool only_reads(std::string_view method) {
  if (method.starts_with(kReflection)) return true;
  if (!method.starts_with(kControl)) return false;
  method.remove_prefix(kControl.size());
  return method.starts_with("Get") || method.starts_with("List") || method.starts_with("Watch");
}

}  // namespace

Result<ControlRoles::Members> ControlRoles::members(
    const std::string& key, const google::protobuf::RepeatedPtrField<std::string>& entries) {
  Members members;
  std::vector<std::string> users;
  for (const std::string& entry : entries)
    // Entries of both kinds are in one list of the configuration.
    (config::names_certificate(entry) ? members.certificates : users).push_back(entry);
  ECHOLINE_ASSIGN(members.users, AccessList::parse(key, users));
  return members;
}

Result<ControlRoles> ControlRoles::parse(const v1::ControlAccess& access) {
  ControlRoles roles;
  ECHOLINE_ASSIGN(roles.operators_, members("daemon.control.operators", access.operators()));
  ECHOLINE_ASSIGN(roles.readers_, members("daemon.control.readers", access.readers()));
  return roles;
}

Caller ControlRoles::of_peer(const Peer& peer) const {
  const std::string name = name_of_user(peer.uid);
  // Root and the daemon's user can always do everything.
  if (is_own(peer) || operators_.users.names(peer)) return {Role::kOperator, name};
  return {readers_.users.names(peer) ? Role::kReader : Role::kStranger, name};
}

Caller ControlRoles::of_certificate(const std::vector<std::string>& names) const {
  // A certificate's names can contain any bytes, and this one appears in logs.
  const std::string name =
      names.empty() ? "a certificate without names"
                    : fmt::format("the certificate {}",
                                  sanitize_name(fmt::format("{}", fmt::join(names, ", "))));
  if (any_is_listed(names, operators_.certificates)) return {Role::kOperator, name};
  return {any_is_listed(names, readers_.certificates) ? Role::kReader : Role::kStranger, name};
}

bool ControlRoles::admit_other_users() const {
  return !operators_.users.empty() || !readers_.users.empty();
}

Status may_call(const Caller& caller, std::string_view method) {
  // Probes may ask for the daemon's health without being listed.
  if (caller.role == Role::kOperator || method.starts_with(kHealth)) return Status();
  if (caller.role == Role::kStranger) {
    return Status(Code::kPermissionDenied,
                  fmt::format("{} may not use the control service; the daemon's operator names "
                              "who may in daemon.control.operators and daemon.control.readers",
                              caller.name));
  }
  if (only_reads(method)) return Status();
  return Status(Code::kPermissionDenied,
                fmt::format("{} may look, but not call {}; daemon.control.operators names who may",
                            caller.name, method.substr(method.rfind('/') + 1)));
}

}  // namespace echoline::serve
