// What daemon and client say through the door: SOCK_SEQPACKET messages of fixed size on door.sock.
// The client sends one AttachRequest; the daemon answers one AttachReply, with two descriptors
// (SCM_RIGHTS: the ring's memfd, the consumer's cursor memfd) if it succeeded. Then the open socket
// stands for the attachment: its closing is the death of the other side. A Notice may follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "echoline/shm/ring_layout.h"

namespace echoline::shm {

inline constexpr std::uint64_t kDoorMagic = 0x31524F4F44484345;  // "ECHDOOR1"
inline constexpr std::uint32_t kDoorMajor = 1;
inline constexpr std::uint32_t kDoorMinor = 2;
inline constexpr std::size_t kNameBytes = 128;
inline constexpr std::size_t kTextBytes = 1024;
inline constexpr std::size_t kFactorChangesMax = 64;

enum JoinAt : std::uint32_t {
  kJoinStart = 1,    // epoch 0, row 0
  kJoinCurrent = 2,  // where the running pass stands
  kJoinNextEpoch = 3,
  kJoinPosition = 4,  // `epoch`, `row` and the changes: a saved state
};

struct FactorEntry {
  std::uint64_t block;
  std::uint32_t factor;  // thousandths
  std::uint32_t ahead;   // epochs after the one that is named beside the list (door 1.2)
};

struct AttachRequest {
  std::uint64_t magic;
  std::uint32_t door_major;
  std::uint32_t door_minor;
  std::uint32_t layout_major;
  std::uint32_t layout_minor;
  char stream[kNameBytes];  // zero-terminated
  char job[kNameBytes];
  std::uint32_t rank;
  std::uint32_t world_size;
  std::uint32_t batch_size;  // of all ranks together; 0: the stream's
  std::uint32_t join;        // JoinAt
  std::uint64_t row;
  std::uint32_t epoch;
  std::uint32_t reattaching;  // 1: this consumer was attached to a daemon that went away
  std::uint32_t has_fingerprint;
  std::uint32_t plan_version;
  std::uint8_t fingerprint[kFingerprintBytes];
  std::uint32_t change_count;
  std::uint32_t local_ranks;  // of the job on this host; 0: not known, perhaps all (door 1.1)
  FactorEntry changes[kFactorChangesMax];
};

struct AttachReply {
  std::uint64_t magic;
  std::uint32_t door_major;
  std::uint32_t door_minor;
  std::uint32_t code;            // base Code as a number; 0 ok
  std::uint32_t batch_size;      // granted
  std::uint64_t first_sequence;  // the first descriptor this consumer is to look at
  std::uint64_t row;             // where this consumer starts in `epoch`
  std::uint32_t epoch;
  std::uint32_t change_count;
  FactorEntry changes[kFactorChangesMax];  // of `epoch`; all there are stand in the ring's log
  char message[kTextBytes];                // why not, and what to do
};

enum NoticeKind : std::uint32_t {
  kNoticeFailed = 1,    // the stream ended with an error
  kNoticeDetached = 2,  // this consumer was taken off (misbehaved, fell behind, stream deleted)
  kNoticeDraining = 3,  // the daemon is going down in order
  kNoticeMoved = 4,     // attach again, at the present position: another ring awaits it (door 1.1)
  kNoticePeers = 5,     // about other trainers, for its user to read (door 1.1)
};

struct Notice {
  std::uint64_t magic;
  std::uint32_t kind;  // NoticeKind
  std::uint32_t code;
  char message[kTextBytes];
};

// What a field of text holds before its first zero, all of it if it has none. The view lives as
// long as the message.
template <std::size_t N>
std::string_view text(const char (&field)[N]) {
  const std::string_view all(field, N);
  return all.substr(0, all.find('\0'));
}

static_assert(std::is_trivially_copyable_v<AttachRequest> && sizeof(AttachRequest) == 1368);
static_assert(std::is_trivially_copyable_v<AttachReply> && sizeof(AttachReply) == 2096);
static_assert(std::is_trivially_copyable_v<Notice> && sizeof(Notice) == 1040);

}  // namespace echoline::shm
