// Any bytes are either refused with a reason that fits into a reply, or are a request whose names
// and numbers are all within their limits. Most inputs are a good request with some bytes changed,
// so that the checks behind the version check run too.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "serve/door/door_codec.h"

namespace {

namespace shm = echoline::shm;

void require(bool condition) {
  if (!condition) std::abort();
}

void check(std::span<const std::byte> message) {
  const auto request = echoline::serve::parse_request(message);
  const shm::AttachReply reply = echoline::serve::make_reply(request.status());
  require(reply.magic == shm::kDoorMagic && reply.message[shm::kTextBytes - 1] == 0);
  require((reply.code == 0) == request.ok());
  if (!request.ok()) return require(reply.message[0] != 0);
  const shm::AttachRequest& good = request.value();
  require(std::memchr(good.stream, 0, sizeof good.stream) != nullptr && good.stream[0] != 0);
  require(std::memchr(good.job, 0, sizeof good.job) != nullptr && good.job[0] != 0);
  require(good.rank < good.world_size && good.change_count <= shm::kFactorChangesMax);
  require(good.join >= shm::kJoinStart && good.join <= shm::kJoinPosition);
}

shm::AttachRequest good_request() {
  shm::AttachRequest request{};
  request.magic = shm::kDoorMagic;
  request.door_major = shm::kDoorMajor;
  request.layout_major = shm::kLayoutMajor;
  std::memcpy(request.stream, "photos", 6);
  std::memcpy(request.job, "default", 7);
  request.world_size = 1;
  request.join = shm::kJoinStart;
  return request;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check(std::as_bytes(std::span(data, size)));
  const shm::AttachRequest good = good_request();
  std::vector<std::byte> changed(sizeof good);
  std::memcpy(changed.data(), &good, sizeof good);
  for (std::size_t at = 0; at + 3 <= size; at += 3)
    changed[(data[at] | data[at + 1] << 8U) % changed.size()] =
        static_cast<std::byte>(data[at + 2]);
  check(changed);
  return 0;
}
