// What a trainer asks for at the door, and what it was granted.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "echoline/shm/door.h"
#include "error.h"
#include "os_handle.h"

namespace echoline::client {

using Fingerprint = std::array<std::uint8_t, shm::kFingerprintBytes>;

// Where in the stream a trainer stands: the next batch begins at `row` of `epoch`.
struct Position {
  std::uint32_t epoch = 0;
  std::uint64_t row = 0;
  bool operator==(const Position&) const = default;
};

struct AttachWish {
  std::string stream;
  std::string job = "default";
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  std::uint32_t batch_size = 0;        // 0: the stream's
  std::uint32_t local_world_size = 0;  // 0: not known
  shm::JoinAt join = shm::kJoinStart;
  Position position;  // with kJoinPosition
  std::vector<shm::FactorEntry> changes;
  bool has_fingerprint = false;
  Fingerprint fingerprint{};
  std::uint32_t plan_version = 0;
  bool reattaching = false;
  bool overlap = false;  // ECHOLINE_ATTACH_OVERLAP
};

struct Grant {
  shm::AttachReply reply{};
  std::shared_ptr<GuardedFd> data_fd = std::make_shared<GuardedFd>();
  GuardedFd cursor_fd;
};

// Names that fit, a rank below the world size, a batch that divides.
Error check_wish(const AttachWish& wish);
shm::AttachRequest to_request(const AttachWish& wish);

std::string to_hex(const Fingerprint& fingerprint);
// False unless it is 32 hexadecimal digits.
bool from_hex(std::string_view text, Fingerprint& fingerprint);

}  // namespace echoline::client
