// etcd as the store: its v3 API over gRPC, with TLS where files are named.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agree/store.h"

namespace grpc {
class Channel;
class ClientContext;
class Status;
}  // namespace grpc

namespace echoline::agree {

struct EtcdOptions {
  std::vector<std::string> endpoints;  // host:port
  // Files, PEM; empty: no TLS, or no certificate of this host.
  std::string server_ca = {};
  std::string certificate = {};
  std::string key = {};
};

// Any thread may read the counts.
struct StoreCounts {
  std::atomic<std::uint64_t> answered{0};
  std::atomic<std::uint64_t> failed{0};  // of all endpoints in turn
};

class EtcdStore : public Store {
 public:
  // `counts` outlives it.
  EtcdStore(EtcdOptions options, StoreCounts& counts);
  ~EtcdStore() override;

  Result<Outcome> commit(const Transaction& transaction) override;
  Result<std::int64_t> grant(std::int64_t seconds) override;
  Status keep(std::int64_t lease) override;
  Status revoke(std::int64_t lease) override;

 private:
  using Call = std::function<grpc::Status(const std::shared_ptr<grpc::Channel>& channel,
                                          grpc::ClientContext& context)>;
  // Asks the endpoints in turn, from the one that answered last, until one answers.
  Status ask(const char* what, const Call& call);
  // The connection to an endpoint, opened again after a failure: files may have been renewed.
  Result<std::shared_ptr<grpc::Channel>> channel(std::size_t endpoint);

  const EtcdOptions options_;
  StoreCounts& counts_;
  std::vector<std::shared_ptr<grpc::Channel>> channels_;  // by endpoint; null: none yet
  std::size_t present_ = 0;                               // the endpoint that answered last
};

}  // namespace echoline::agree
