// A worker may send anything: what is taken for a reply only has arrays within the shared memory,
// and what is taken for a description of fields fits into it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "user_code/description.h"
#include "user_code/message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t kAreaBytes = 1 << 20;
  using echoline::decode::FieldType;
  const FieldType types[] = {
      {.name = "a", .dtype = echoline::shm::kUint8, .image = true, .shape = {{0, 0, 3}, 3}},
      {.name = "b", .dtype = echoline::shm::kInt64, .ragged = true, .shape = {{1 << 16}, 1}}};
  const auto reply = echoline::user_code::decode_reply(std::as_bytes(std::span(data, size)));
  if (!reply.ok()) return 0;
  // The first message of a plugin describes its fields.
  const auto outputs = echoline::user_code::parse_outputs(reply->details, kAreaBytes);
  if (outputs.ok()) {
    for (const FieldType& type : *outputs) {
      const bool sized = type.fixed || type.ragged;
      if (sized && type.shape.elements() * echoline::shm::dtype_bytes(type.dtype) > kAreaBytes)
        std::abort();
    }
  }
  for (const auto& place : reply->arrays) {
    for (const FieldType& type : types) {
      if (!echoline::user_code::check_array(place, type, kAreaBytes).ok()) continue;
      if (place.offset > kAreaBytes || place.bytes() > kAreaBytes - place.offset) std::abort();
    }
  }
  return 0;
}
