// The servers of a stream and what they are asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "decode/sample.h"

namespace echoline::engine {

// The longest answer that a host receives: some pictures of the most pixels that are decoded.
inline constexpr std::uint64_t kReceivedBytesMax = 1 << 30;

struct RemoteOptions {
  std::string stream;
  std::string fingerprint;                // of the data set and the steps before `prepare`
  std::vector<decode::FieldType> fields;  // what a frame must have
  std::vector<std::string> servers;       // host:port
  std::string certificate;                // files
  std::string key;
  std::string server_ca;
  std::uint32_t concurrency = 32;  // requests in flight at each server
  bool wait = false;               // where no server can be reached: keep trying, answer nothing
};

}  // namespace echoline::engine
