// The messages on the attach socket ("door", door.sock): SOCK_SEQPACKET, of fixed size. The client
// sends one AttachRequest. The daemon answers with one AttachReply and, if it grants the request,
// two file descriptors (SCM_RIGHTS: the memfd of the ring and the memfd of the consumer's cursor
// page). While the stream is being opened, the daemon sends a Notice of kind kNoticeOpening at once
// and then once a second before its answer. The attachment lasts as long as the socket is open: if
// one side closes it or dies, the other side ends the attachment. The daemon may send Notices
// meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "echoline/shm/ring_layout.h"

namespace echoline::shm {

inline constexpr std::uint64_t kDoorMagic = 0x31524F4F44484345;  // "ECHDOOR1"
inline constexpr std::uint32_t kDoorMajor = 1;
inline constexpr std::uint32_t kDoorMinor = 4;
// Clients from this version on understand kNoticeOpening.
inline constexpr std::uint32_t kDoorMinorOpening = 3;
inline constexpr std::size_t kNameBytes = 128;
inline constexpr std::size_t kTextBytes = 1024;
inline constexpr std::size_t kFactorChangesMax = 64;
inline constexpr std::size_t kWeightChangesMax = kWeightLogEntries;

enum JoinAt : std::uint32_t {
  kJoinStart = 1,    // epoch 0, row 0
  kJoinCurrent = 2,  // the position of the running pass
  kJoinNextEpoch = 3,
  kJoinPosition = 4,  // `epoch`, `row`, the changes and the weights, from a saved state
};

struct FactorEntry {
  std::uint64_t block;
  std::uint32_t factor;  // thousandths
  std::uint32_t ahead;   // the entry is for this many epochs after the message's `epoch` (door 1.2)
};

struct WeightEntry {
  std::uint64_t row;    // without echo
  std::uint32_t ahead;  // as that of FactorEntry
  std::uint32_t source_count;
  std::uint32_t weights[kMixSourcesMax];  // thousandths, of each source
};

// A request without weights ends before `weight_count`, as all requests did before door 1.4.
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
  std::uint32_t reattaching;  // 1: this consumer was attached before and continues
  std::uint32_t has_fingerprint;
  std::uint32_t plan_version;
  std::uint8_t fingerprint[kFingerprintBytes];
  std::uint32_t change_count;
  std::uint32_t local_ranks;  // number of the job's ranks on this host; 0: not known (door 1.1)
  FactorEntry changes[kFactorChangesMax];
  std::uint32_t weight_count;
  std::uint32_t reserved0;
  WeightEntry weights[kWeightChangesMax];
};

inline constexpr std::size_t kRequestBytesWithoutWeights = offsetof(AttachRequest, weight_count);

struct AttachReply {
  std::uint64_t magic;
  std::uint32_t door_major;
  std::uint32_t door_minor;
  std::uint32_t code;            // base Code as a number; 0: granted
  std::uint32_t batch_size;      // granted
  std::uint64_t first_sequence;  // the first descriptor that this consumer needs
  std::uint64_t row;             // where this consumer starts in `epoch`
  std::uint32_t epoch;
  std::uint32_t change_count;
  FactorEntry changes[kFactorChangesMax];  // of `epoch`; the ring's log has all changes
  char message[kTextBytes];                // of a refusal: the reason, and what to do
};

enum NoticeKind : std::uint32_t {
  kNoticeFailed = 1,    // the stream ended with an error
  kNoticeDetached = 2,  // this consumer was detached (misbehaved, fell behind, stream deleted)
  kNoticeDraining = 3,  // the daemon is shutting down
  kNoticeMoved = 4,     // attach again at the same position: another ring is ready (door 1.1)
  kNoticeText = 5,      // for the user: about other ranks, or a long wait (door 1.1)
  kNoticeOpening = 6,   // before the answer: the stream is being opened, how far it is (door 1.3)
};

struct Notice {
  std::uint64_t magic;
  std::uint32_t kind;  // NoticeKind
  std::uint32_t code;
  char message[kTextBytes];
};

// The text of a fixed-size field: up to its first zero, or all of it. The view is valid as long as
// the message.
template <std::size_t N>
std::string_view text(const char (&field)[N]) {
  const std::string_view all(field, N);
  return all.substr(0, all.find('\0'));
}

static_assert(std::is_trivially_copyable_v<AttachRequest> && sizeof(AttachRequest) == 5728 &&
              kRequestBytesWithoutWeights == 1368);
static_assert(std::is_trivially_copyable_v<AttachReply> && sizeof(AttachReply) == 2096);
static_assert(std::is_trivially_copyable_v<Notice> && sizeof(Notice) == 1040);

}  // namespace echoline::shm
