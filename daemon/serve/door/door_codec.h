// What is said through the door, checked and made. Pure: bytes in, messages out.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"
#include "echoline/shm/door.h"
#include "engine/api/attach.h"

namespace echoline::serve {

// The request, if these bytes are one that this daemon can serve: kFailedPrecondition names both
// sides' versions, kInvalidArgument what is wrong. Names are zero-terminated and printable, counts
// in their bounds, reserved zero.
Result<shm::AttachRequest> parse_request(std::span<const std::byte> message);

// A grant or a refusal, complete but for the descriptors.
shm::AttachReply make_reply(const Result<shm::AttachReply>& granted);
shm::Notice make_notice(shm::NoticeKind kind, const Status& status);

}  // namespace echoline::serve
