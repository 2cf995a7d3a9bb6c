// Shared by the tests of sources: a `read` step, test bytes, and a loop around poll.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "echoline/v1/config.pb.h"
#include "source/core/source.h"

namespace echoline::source {

inline constexpr std::uint64_t kSecondNs = 1'000'000'000;

// Bytes that differ for every offset and seed.
inline std::string pattern_bytes(std::size_t count, std::uint32_t seed = 1) {
  std::string bytes(count, 0);
  std::uint32_t state = seed * 2654435761U + 12345;
  for (char& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<char>(state >> 24);
  }
  return bytes;
}

inline std::span<std::byte> bytes_of(std::string& text) {
  return std::as_writable_bytes(std::span(text));
}

// Polls until there are `count` results, for at most a minute.
inline std::map<std::uint64_t, Status> wait_for(Source& source, std::size_t count) {
  std::map<std::uint64_t, Status> statuses;
  const std::uint64_t deadline = monotonic_ns() + 60 * kSecondNs;
  while (statuses.size() < count && monotonic_ns() < deadline) {
    std::vector<ReadResult> done;
    source.poll(deadline, done);
    for (ReadResult& result : done) statuses[result.tag] = std::move(result.status);
  }
  EXPECT_EQ(statuses.size(), count);
  return statuses;
}

// Reads one range.
inline Status read_into(Source& source, const ObjectInfo& object, std::uint64_t offset,
                        std::string& bytes) {
  ReadRequest request;
  request.tag = 7;
  request.object = object;
  request.segments.push_back({offset, bytes_of(bytes)});
  source.submit(std::move(request));
  return wait_for(source, 1)[7];
}

}  // namespace echoline::source
