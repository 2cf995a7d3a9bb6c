// The messages between the daemon and a worker: one packet of a Unix socket each. Arrays are in
// shared memory; a message only says where. worker.py and plugin_runner/ have the other side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "decode/sample.h"
#include "echoline/shm/sample_random.h"
#include "echoline/shm/worker_messages.h"

namespace echoline::user_code {

inline constexpr std::size_t kFieldsMax = 256;
using shm::ReplyKind;
inline constexpr std::size_t kReplyBytesMax = shm::kWorkerReplyBytesMax;
inline constexpr std::uint64_t kAlignment = shm::kWorkerAlignment;

// Where an array is. `dtype` 0 in a reply: the function returned its argument of the same name.
struct ArrayPlace {
  std::uint32_t dtype = 0;
  decode::Shape shape;
  std::uint64_t offset = 0;  // in the area

  std::uint64_t bytes() const { return shape.elements() * shm::dtype_bytes(dtype); }
};

// Lays the arrays one after the other. kResourceExhausted if they need more than `bytes_max`.
Result<std::vector<ArrayPlace>> lay_out(std::span<const decode::Tensor* const> tensors,
                                        std::uint64_t bytes_max);

// A call of the function. `step` is the number of the step.
std::vector<std::byte> encode_call(std::uint64_t sequence, const UseKey& key, std::uint8_t step,
                                   std::span<const ArrayPlace> arrays);

struct Reply {
  ReplyKind kind = ReplyKind::kResult;
  std::uint64_t sequence = 0;
  std::uint64_t length = 0;             // of kReady: samples of the data set; 0: a function
  std::vector<ArrayPlace> arrays = {};  // of kResult, by output
  std::string group = {};               // errors of one group are logged once
  std::string summary = {};             // one line
  std::string details = {};             // a traceback, or of kReady: the outputs of a plugin
};

// Checks all that the daemon relies on: a worker may send anything. kInvalidArgument: not a reply.
Result<Reply> decode_reply(std::span<const std::byte> message);

// Whether `place` is within an area of `bytes` and has the type and a shape of the field.
Status check_array(const ArrayPlace& place, const decode::FieldType& type, std::uint64_t bytes);
// The same for an argument that the function returns as it is.
Status check_type(std::uint32_t dtype, const decode::Shape& shape, const decode::FieldType& type);

}  // namespace echoline::user_code
