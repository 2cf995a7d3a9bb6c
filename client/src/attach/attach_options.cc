#include "attach/attach_options.h"

#include <algorithm>
#include <cstring>

namespace echoline::client {
namespace {

Error check_name(const char* what, const std::string& name) {
  // The message has fixed fields, which end with a zero.
  if (!name.empty() && name.size() < shm::kNameBytes && name.find('\0') == std::string::npos) {
    return {};
  }
  return {ECHOLINE_INVALID_ARGUMENT, std::string(what) + " must have 1 to " +
                                         std::to_string(shm::kNameBytes - 1) + " bytes, not " +
                                         std::to_string(name.size())};
}

}  // namespace

Error check_options(const AttachOptions& options) {
  if (Error e = check_name("the stream's name", options.stream); !e.ok()) return e;
  if (Error e = check_name("the job's name", options.job); !e.ok()) return e;
  // Checked here, too, so that the error comes before any connection.
  if (options.world_size == 0 || options.rank >= options.world_size) {
    return {ECHOLINE_INVALID_ARGUMENT, "rank " + std::to_string(options.rank) +
                                           " is not below world_size " +
                                           std::to_string(options.world_size)};
  }
  if (options.local_world_size > options.world_size) {
    return {ECHOLINE_INVALID_ARGUMENT,
            "local_world_size " + std::to_string(options.local_world_size) +
                " is more than world_size " + std::to_string(options.world_size)};
  }
  // 0, the stream's own size, is divisible by every world size here; the daemon checks the real
  // one.
  if (options.batch_size % options.world_size != 0) {
    return {ECHOLINE_INVALID_ARGUMENT,
            "batch_size " + std::to_string(options.batch_size) +
                " (of all ranks together) is not divisible by world_size " +
                std::to_string(options.world_size)};
  }
  if (options.changes.size() > shm::kFactorChangesMax) {
    return {ECHOLINE_INVALID_ARGUMENT, "the state has more than " +
                                           std::to_string(shm::kFactorChangesMax) +
                                           " changes of the echo factor"};
  }
  if (options.weights.size() > shm::kWeightChangesMax) {
    return {ECHOLINE_INVALID_ARGUMENT, "the state has more than " +
                                           std::to_string(shm::kWeightChangesMax) +
                                           " changes of the weights"};
  }
  return {};
}

shm::AttachRequest to_request(const AttachOptions& options) {
  shm::AttachRequest request{};
  // With both versions the daemon can name what to install.
  request.magic = shm::kDoorMagic;
  request.door_major = shm::kDoorMajor;
  request.door_minor = shm::kDoorMinor;
  request.layout_major = shm::kLayoutMajor;
  request.layout_minor = shm::kLayoutMinor;
  // The request is zeroed and the names fit, so they are zero-terminated.
  std::memcpy(request.stream, options.stream.data(), options.stream.size());
  std::memcpy(request.job, options.job.data(), options.job.size());
  request.rank = options.rank;
  request.world_size = options.world_size;
  request.batch_size = options.batch_size;
  request.local_ranks = options.local_world_size;
  request.join = options.join;
  request.row = options.position.row;
  request.epoch = options.position.epoch;
  request.reattaching = options.reattaching ? 1 : 0;
  request.has_fingerprint = options.has_fingerprint ? 1 : 0;
  request.plan_version = options.plan_version;
  std::copy(options.fingerprint.begin(), options.fingerprint.end(), request.fingerprint);
  request.change_count = static_cast<std::uint32_t>(options.changes.size());
  std::copy(options.changes.begin(), options.changes.end(), request.changes);
  request.weight_count = static_cast<std::uint32_t>(options.weights.size());
  std::copy(options.weights.begin(), options.weights.end(), request.weights);
  return request;
}

}  // namespace echoline::client
