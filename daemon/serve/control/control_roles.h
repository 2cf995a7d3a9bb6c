// Who may call what of the control service: the lists of `daemon.control`, and the one decision.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/access_list.h"
#include "base/status.h"
#include "echoline/v1/config.pb.h"

namespace echoline::serve {

enum class Role { kStranger, kReader, kOperator };

// Who calls, as the kernel or the certificate says; nothing that the caller sends counts.
struct Caller {
  Role role = Role::kStranger;
  std::string name;  // "user alice (1001)", "the certificate CN=ops"
};

// Immutable; any thread.
class ControlRoles {
 public:
  // Names of users and groups are looked up on this host now; an unknown one is an error.
  static Result<ControlRoles> parse(const v1::ControlAccess& access);

  Caller of_peer(const Peer& peer) const;
  // By subject and alternative names, as "CN=ops", "DNS:ops.example.org".
  Caller of_certificate(const std::vector<std::string>& names) const;
  // Whether users besides root and the daemon's own may do anything.
  bool admit_other_users() const;

 private:
  struct Members {
    AccessList users;
    std::vector<std::string> certificates;
  };
  static Result<Members> members(const std::string& key,
                                 const google::protobuf::RepeatedPtrField<std::string>& entries);

  Members operators_;
  Members readers_;
};

// `method` as gRPC names it, "/echoline.v1.Control/ListStreams". Operators may call all, readers
// what begins with Get, List or Watch, and reflection; anybody asks for health. kPermissionDenied
// says who was seen and what to do.
Status may_call(const Caller& caller, std::string_view method);

}  // namespace echoline::serve
