// Authorization of the control service, by the lists in `daemon.control`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/access_list.h"
#include "base/status.h"
#include "echoline/v1/config.pb.h"

namespace echoline::serve {

enum class Role { kStranger, kReader, kOperator };

// A caller, as the kernel or the certificate identifies it; nothing in its request counts.
struct Caller {
  Role role = Role::kStranger;
  std::string name;  // "user alice (1001)", "the certificate CN=ops"
};

// Immutable; any thread.
class ControlRoles {
 public:
  // Looks up the names of users and groups on this host; an unknown name is an error.
  static Result<ControlRoles> parse(const v1::ControlAccess& access);

  Caller of_peer(const Peer& peer) const;
  // By subject and alternative names, as "CN=ops", "DNS:ops.example.org".
  Caller of_certificate(const std::vector<std::string>& names) const;
  // Whether any user other than root and the daemon's user may call something.
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

// `method` is gRPC's path, "/echoline.v1.Control/ListStreams". Operators may call every method;
// readers reflection and the methods that begin with Get, List or Watch; everybody the health
// service. kPermissionDenied names the caller and the remedy.
Status may_call(const Caller& caller, std::string_view method);

}  // namespace echoline::serve
