#include "attach_request.h"

#include <algorithm>
#include <cstring>

namespace echoline::client {
namespace {

Error check_name(const char* what, const std::string& name) {
  if (!name.empty() && name.size() < shm::kNameBytes && name.find('\0') == std::string::npos) {
    return {};
  }
  return {ECHOLINE_INVALID_ARGUMENT, std::string(what) + " must have 1 to " +
                                         std::to_string(shm::kNameBytes - 1) + " bytes, not " +
                                         std::to_string(name.size())};
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Error check_wish(const AttachWish& wish) {
  if (Error e = check_name("the stream's name", wish.stream); !e.ok()) return e;
  if (Error e = check_name("the job's name", wish.job); !e.ok()) return e;
  if (wish.world_size == 0 || wish.rank >= wish.world_size) {
    return {ECHOLINE_INVALID_ARGUMENT, "rank " + std::to_string(wish.rank) +
                                           " is not below world_size " +
                                           std::to_string(wish.world_size)};
  }
  if (wish.local_world_size > wish.world_size) {
    return {ECHOLINE_INVALID_ARGUMENT, "local_world_size " + std::to_string(wish.local_world_size) +
                                           " is more than world_size " +
                                           std::to_string(wish.world_size)};
  }
  if (wish.batch_size % wish.world_size != 0) {
    return {ECHOLINE_INVALID_ARGUMENT,
            "batch_size " + std::to_string(wish.batch_size) +
                " (of all ranks together) is not divisible by world_size " +
                std::to_string(wish.world_size)};
  }
  if (wish.changes.size() > shm::kFactorChangesMax) {
    return {ECHOLINE_INVALID_ARGUMENT, "the state has more than " +
                                           std::to_string(shm::kFactorChangesMax) +
                                           " changes of the echo factor"};
  }
  return {};
}

shm::AttachRequest to_request(const AttachWish& wish) {
  shm::AttachRequest request{};
  request.magic = shm::kDoorMagic;
  request.door_major = shm::kDoorMajor;
  request.door_minor = shm::kDoorMinor;
  request.layout_major = shm::kLayoutMajor;
  request.layout_minor = shm::kLayoutMinor;
  std::memcpy(request.stream, wish.stream.data(), wish.stream.size());
  std::memcpy(request.job, wish.job.data(), wish.job.size());
  request.rank = wish.rank;
  request.world_size = wish.world_size;
  request.batch_size = wish.batch_size;
  request.local_ranks = wish.local_world_size;
  request.join = wish.join;
  request.row = wish.position.row;
  request.epoch = wish.position.epoch;
  request.reattaching = wish.reattaching ? 1 : 0;
  request.has_fingerprint = wish.has_fingerprint ? 1 : 0;
  request.plan_version = wish.plan_version;
  std::copy(wish.fingerprint.begin(), wish.fingerprint.end(), request.fingerprint);
  request.change_count = static_cast<std::uint32_t>(wish.changes.size());
  std::copy(wish.changes.begin(), wish.changes.end(), request.changes);
  return request;
}

std::string to_hex(const Fingerprint& fingerprint) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : fingerprint) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

bool from_hex(std::string_view text, Fingerprint& fingerprint) {
  if (text.size() != 2 * fingerprint.size()) return false;
  for (std::size_t i = 0; i < fingerprint.size(); ++i) {
    const int high = hex_digit(text[2 * i]);
    const int low = hex_digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    fingerprint[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return true;
}

}  // namespace echoline::client
