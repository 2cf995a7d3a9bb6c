#include "serve/door/door_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/utf8.h"

namespace echoline::serve {
namespace {

// The first bytes of a request, the same in every version of the door.
struct Preamble {
  std::uint64_t magic;
  std::uint32_t door_major;
  std::uint32_t door_minor;
  std::uint32_t layout_major;
  std::uint32_t layout_minor;
};
// These fields never move, so that every version can read the others' version.
static_assert(sizeof(Preamble) == 24 && offsetof(shm::AttachRequest, stream) == sizeof(Preamble));

// Bounds what the engine keeps for one job.
constexpr std::uint32_t kWorldSizeMax = 1U << 20;

Status invalid(std::string message) {
  return Status(Code::kInvalidArgument, "attach request: " + std::move(message));
}

Status check_versions(const Preamble& preamble) {
  if (preamble.magic != shm::kDoorMagic)
    return invalid("not a message of Echoline's door; attach through the client library");
  if (preamble.door_major != shm::kDoorMajor || preamble.layout_major != shm::kLayoutMajor)
    return Status(
        Code::kFailedPrecondition,
        fmt::format(
            "the client speaks door {}.{} and ring layout {}.{}, this daemon door {}.{} and ring "
            "layout {}.{}; install client library and daemon of the same release",
            preamble.door_major, preamble.door_minor, preamble.layout_major, preamble.layout_minor,
            shm::kDoorMajor, shm::kDoorMinor, shm::kLayoutMajor, shm::kLayoutMinor));
  return {};
}

// Names appear in log lines and metrics, so control characters are refused.
Status check_name(const char (&name)[shm::kNameBytes], std::string_view what) {
  // Within the array only: the text may lack its end.
  const void* end = std::memchr(name, 0, sizeof name);
  if (end == nullptr) return invalid(fmt::format("the {} name is not zero-terminated", what));
  const std::string_view text(name, static_cast<std::size_t>(static_cast<const char*>(end) - name));
  if (text.empty()) return invalid(fmt::format("the {} name is empty", what));
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(text.begin(), text.end(), control))
    return invalid(fmt::format("the {} name has control characters", what));
  if (!is_utf8(text)) return invalid(fmt::format("the {} name is not UTF-8", what));
  return {};
}

Status check_changes(const shm::AttachRequest& request) {
  if (request.change_count > shm::kFactorChangesMax)
    return invalid(fmt::format("{} changes of the factor; at most {} an epoch are possible",
                               request.change_count, shm::kFactorChangesMax));
  // FactorHistory::of_state takes them epoch by epoch.
  for (std::uint32_t i = 1; i < request.change_count; ++i)
    if (request.changes[i].ahead < request.changes[i - 1].ahead)
      return invalid("the changes of the factor are not in the order of their epochs");
  return {};
}

Status check_weights(const shm::AttachRequest& request) {
  if (request.weight_count > shm::kWeightChangesMax)
    return invalid(fmt::format("{} changes of the weights; at most {} an epoch are possible",
                               request.weight_count, shm::kWeightChangesMax));
  return {};
}

Status check_numbers(const shm::AttachRequest& request) {
  if (request.world_size == 0 || request.world_size > kWorldSizeMax)
    return invalid(
        fmt::format("world size {}; 1 to {} are possible", request.world_size, kWorldSizeMax));
  if (request.rank >= request.world_size)
    return invalid(fmt::format("rank {} of world size {}; ranks count from 0", request.rank,
                               request.world_size));
  if (request.join < shm::kJoinStart || request.join > shm::kJoinPosition)
    return invalid(fmt::format("join {} is unknown", request.join));
  // Flags may get other values in later versions, which this one could not respect.
  if (request.has_fingerprint > 1 || request.reattaching > 1)
    return invalid("a flag is neither 0 nor 1");
  if (request.local_ranks > request.world_size)
    return invalid(fmt::format("{} ranks on this host, of {} in all", request.local_ranks,
                               request.world_size));
  ECHOLINE_TRY(check_changes(request));
  return check_weights(request);
}

// Cut, and zero-terminated, because `to` was zeroed before.
template <std::size_t kBytes>
void copy_text(char (&to)[kBytes], std::string_view text) {
  std::memcpy(to, text.data(), std::min(text.size(), kBytes - 1));
}

}  // namespace

Result<shm::AttachRequest> parse_request(std::span<const std::byte> message) {
  Preamble preamble{};
  if (message.size() < sizeof preamble)
    return invalid(fmt::format("{} bytes are too few", message.size()));
  std::memcpy(&preamble, message.data(), sizeof preamble);
  // Versions before the length: a client of another version has another length, and must learn why.
  ECHOLINE_TRY(check_versions(preamble));
  // Exactly: trailing bytes would be of another version.
  shm::AttachRequest request{};
  if (message.size() != sizeof request && message.size() != shm::kRequestBytesWithoutWeights)
    return invalid(fmt::format("{} bytes; door {}.{} has {} or {}", message.size(), shm::kDoorMajor,
                               shm::kDoorMinor, shm::kRequestBytesWithoutWeights, sizeof request));
  std::memcpy(&request, message.data(), message.size());
  ECHOLINE_TRY(check_name(request.stream, "stream's"));
  ECHOLINE_TRY(check_name(request.job, "job's"));
  ECHOLINE_TRY(check_numbers(request));
  return request;
}

shm::AttachReply make_reply(const Result<shm::AttachReply>& granted) {
  shm::AttachReply reply = granted.ok() ? granted.value() : shm::AttachReply{};
  reply.magic = shm::kDoorMagic;
  reply.door_major = shm::kDoorMajor;
  reply.door_minor = shm::kDoorMinor;
  reply.code = static_cast<std::uint32_t>(granted.status().code());
  // A refusal may reuse a reply of the engine.
  std::memset(reply.message, 0, sizeof reply.message);
  copy_text(reply.message, granted.status().message());
  return reply;
}

shm::Notice make_notice(shm::NoticeKind kind, const Status& status) {
  shm::Notice notice{};
  notice.magic = shm::kDoorMagic;
  notice.kind = kind;
  notice.code = static_cast<std::uint32_t>(status.code());
  copy_text(notice.message, status.message());
  return notice;
}

}  // namespace echoline::serve
