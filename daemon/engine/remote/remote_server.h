// One preparation server as a host sees it: its connection, and whether it is worth asking. Used by
// the thread of a client alone, and by one other before that thread starts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/rate_limiter.h"
#include "base/status.h"
#include "engine/remote/address_watcher.h"

// What its stubs take: nothing is converted where this type is incomplete.
namespace grpc {
class ChannelInterface;
}

namespace echoline::engine {

// The texts of the host's TLS files.
struct HostCredentials {
  std::string certificate;
  std::string key;
  std::string server_ca;
  bool operator==(const HostCredentials&) const = default;
};

struct HostFiles {
  std::string certificate;
  std::string key;
  std::string server_ca;
};
// kInvalidArgument and so on name the setting and the file.
Result<HostCredentials> read_credentials(const HostFiles& files);

std::shared_ptr<grpc::ChannelInterface> open_channel(const ServerAddress& address,
                                                     const HostCredentials& credentials);

class RemoteServer {
 public:
  RemoteServer(ServerAddress address, const HostCredentials& credentials);

  const ServerAddress& address() const { return address_; }
  const std::shared_ptr<grpc::ChannelInterface>& channel() const { return channel_; }
  // A server that has failed is tried again with a new certificate, if there is one.
  void use(const HostCredentials& credentials);

  // It has answered since its last failure, or never failed.
  bool is_good() const { return failures_ == 0; }
  bool is_busy(std::uint64_t now_ns) const { return now_ns < busy_until_ns_; }
  // Whether it is time to ask a server that is not good whether it answers again.
  bool is_probe_due(std::uint64_t now_ns) const {
    return !is_good() && !probing && now_ns >= probe_at_ns_;
  }

  void note_answer() { failures_ = 0; }
  // It is asked again after a pause that grows with each failure.
  void note_failure(std::uint64_t now_ns);
  // It works, but not for this host: its operator has to change something.
  void note_refusal(std::uint64_t now_ns);
  // It has too much to do.
  void note_busy(std::uint64_t now_ns);

  std::uint32_t in_flight = 0;
  bool probing = false;
  RateLimiter refusal_log{30'000'000'000};

 private:
  const ServerAddress address_;
  HostCredentials credentials_;
  std::shared_ptr<grpc::ChannelInterface> channel_;
  std::uint32_t failures_ = 0;  // in a row
  std::uint64_t probe_at_ns_ = 0;
  std::uint64_t busy_until_ns_ = 0;
};

}  // namespace echoline::engine
