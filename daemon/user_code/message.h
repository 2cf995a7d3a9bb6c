// The messages between the daemon and a worker: one packet of a Unix socket each. Arrays are in
// shared memory; a message only says where. worker.py and plugin_runner/ have the other side.
//
// A call is a head (CallHead), a key for each sample (KeyWords), and for each sample, one after the
// other, the places of its inputs (ArrayWords). The answer to it is a head (ReplyHead) and, for
// each sample, the places of its outputs, or a reason as text.
//
// A function of one sample is called for each sample in turn. When it fails for one that is not the
// first, the answer has the samples before it only: fewer places than the call has samples.
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
inline constexpr std::size_t kMessageBytesMax = shm::kWorkerMessageBytesMax;  // in each direction
inline constexpr std::size_t kSamplesMax = 64;                                // of one call
inline constexpr std::uint64_t kAlignment = shm::kWorkerAlignment;

// Where an array is. `dtype` 0 in a reply: the function returned its argument of the same name.
struct ArrayPlace {
  std::uint32_t dtype = 0;
  decode::Shape shape;
  std::uint64_t offset = 0;  // in the area

  std::uint64_t bytes() const { return shape.elements() * shm::dtype_bytes(dtype); }
};

// One sample of a call.
struct SampleCall {
  std::span<const decode::Tensor* const> arguments;  // by input
  UseKey key;
  std::span<decode::Tensor* const> results;  // by output: filled
};

// The largest number of samples with so many inputs and outputs whose places fit into one message.
std::size_t samples_in_message(std::size_t inputs, std::size_t outputs);

struct Layout {
  std::vector<ArrayPlace> places;  // by sample and input
  std::uint64_t bytes = 0;         // of the area
};
// Lays the arrays one after the other, input by input. `stacked`: those of an input with a fixed
// shape follow each other without gaps, as one array of all samples. kResourceExhausted if they
// need more than `bytes_max`.
Result<Layout> lay_out(std::span<const SampleCall> samples,
                       const std::vector<decode::FieldType>& inputs, bool stacked,
                       std::uint64_t bytes_max);

// A call of the function on samples of one seed. `step` is the number of the step; `places` is that
// of lay_out.
std::vector<std::byte> encode_call(std::uint64_t sequence, std::uint8_t step,
                                   std::span<const SampleCall> samples,
                                   std::span<const ArrayPlace> places);

struct Reply {
  ReplyKind kind = ReplyKind::kResult;
  std::uint64_t sequence = 0;
  std::uint64_t length = 0;             // of kReady: samples of the data set; 0: a function
  std::uint32_t threads = 0;            // of kReady: that answer calls; a plugin says 0
  std::vector<ArrayPlace> arrays = {};  // of kResult, by sample and output
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
