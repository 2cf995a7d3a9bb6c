// Checks the door's requests and builds its replies and notices. Pure functions.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"
#include "echoline/shm/door.h"
#include "engine/api/attach.h"

namespace echoline::serve {

// Reads an attach request. kFailedPrecondition: another version; the message names both versions.
// kInvalidArgument: the message says what is wrong. In a request that is returned, names are
// zero-terminated and printable, and counts are within their limits.
Result<shm::AttachRequest> parse_request(std::span<const std::byte> message);

// A grant or a refusal; the descriptors of a grant are sent with it.
shm::AttachReply make_reply(const Result<shm::AttachReply>& granted);
shm::Notice make_notice(shm::NoticeKind kind, const Status& status);

}  // namespace echoline::serve
