#include "agree/etcd_store.h"

#include <fmt/format.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <chrono>
#include <string_view>
#include <utility>

#include "base/bounded_file.h"
#include "etcd/rpc.grpc.pb.h"

namespace echoline::agree {
namespace {

namespace pb = etcdserverpb;

// Of one call to one endpoint.
constexpr std::chrono::milliseconds kPatience{1500};
constexpr std::size_t kPemBytesMax = 1 << 20;
constexpr int kReconnectFirstMs = 100;
constexpr int kReconnectMaxMs = 1'000;

Result<std::string> read_pem(const char* key, const std::string& path) {
  if (path.empty()) return std::string();
  Result<std::string> text = read_bounded_file(path, kPemBytesMax);
  if (text.ok()) return text;
  return text.status().with_context(std::string("daemon.etcd.") + key);
}

void fill(const Range& range, pb::RangeRequest& request) {
  request.set_key(range.begin);
  request.set_range_end(range.end);
}

pb::TxnRequest to_request(const Transaction& transaction) {
  pb::TxnRequest request;
  for (const Condition& condition : transaction.conditions) {
    pb::Compare& compare = *request.add_compare();
    compare.set_key(condition.range.begin);
    compare.set_range_end(condition.range.end);
    if (condition.kind == Condition::Kind::kAbsent) {
      compare.set_target(pb::Compare::CREATE);
      compare.set_create_revision(0);
    } else {
      compare.set_target(pb::Compare::VALUE);
      compare.set_value(condition.value);
    }
  }
  for (const Range& range : transaction.removals) {
    auto& removal = *request.add_success()->mutable_request_delete_range();
    removal.set_key(range.begin);
    removal.set_range_end(range.end);
  }
  for (const Write& write : transaction.writes) {
    auto& put = *request.add_success()->mutable_request_put();
    put.set_key(write.key);
    put.set_value(write.value);
    put.set_lease(write.lease);
  }
  for (const Range& range : transaction.reads) {
    fill(range, *request.add_success()->mutable_request_range());
    fill(range, *request.add_failure()->mutable_request_range());
  }
  return request;
}

// What to look at, where the failure and the settings tell it.
std::string advice(const EtcdOptions& options, std::string_view failure) {
  const auto says = [failure](std::string_view text) {
    return failure.find(text) != std::string_view::npos;
  };
  if (says("certificate verify failed")) {
    return "; daemon.etcd.server_ca has no authority that issued the certificate of this etcd";
  }
  if (says("is not in peer certificate")) {
    return "; its certificate is for other names: name the endpoint as the certificate does, or "
           "make it with this name";
  }
  // What a server does that refuses a handshake. Without TLS, a reset has other reasons.
  const bool is_reset = says("Connection reset by peer") && !options.server_ca.empty();
  if (!says("Socket closed") && !says("Endpoint read failed") && !is_reset) return "";
  if (options.server_ca.empty()) {
    return "; if it speaks TLS, name its authorities in daemon.etcd.server_ca";
  }
  if (options.certificate.empty()) {
    return "; if it asks for certificates, name a certificate in daemon.etcd.certificate";
  }
  return "; it may not know the authority that issued daemon.etcd.certificate";
}

Outcome to_outcome(const pb::TxnResponse& response) {
  Outcome outcome{.done = response.succeeded(), .read = {}};
  for (const pb::ResponseOp& one : response.responses()) {
    if (!one.has_response_range()) continue;
    std::vector<Entry>& entries = outcome.read.emplace_back();
    for (const pb::KeyValue& pair : one.response_range().kvs()) {
      entries.push_back({pair.key(), pair.value()});
    }
  }
  return outcome;
}

}  // namespace

Range all_below(std::string prefix) {
  std::string end = prefix;
  ++end.back();
  return {std::move(prefix), std::move(end)};
}

EtcdStore::EtcdStore(EtcdOptions options, StoreCounts& counts)
    : options_(std::move(options)), counts_(counts), channels_(options_.endpoints.size()) {}

EtcdStore::~EtcdStore() = default;

Result<std::shared_ptr<grpc::Channel>> EtcdStore::channel(std::size_t endpoint) {
  if (channels_[endpoint] != nullptr) return channels_[endpoint];
  std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
  if (!options_.server_ca.empty()) {
    grpc::SslCredentialsOptions tls;
    ECHOLINE_ASSIGN(tls.pem_root_certs, read_pem("server_ca", options_.server_ca));
    ECHOLINE_ASSIGN(tls.pem_cert_chain, read_pem("certificate", options_.certificate));
    ECHOLINE_ASSIGN(tls.pem_private_key, read_pem("key", options_.key));
    credentials = grpc::SslCredentials(tls);
  }
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectFirstMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kReconnectMaxMs);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  channels_[endpoint] =
      grpc::CreateCustomChannel("dns:///" + options_.endpoints[endpoint], credentials, arguments);
  return channels_[endpoint];
}

Status EtcdStore::ask(const char* what, const Call& call) {
  Status failure;
  for (std::size_t tried = 0; tried < options_.endpoints.size(); ++tried) {
    const std::size_t endpoint = (present_ + tried) % options_.endpoints.size();
    ECHOLINE_ASSIGN(const std::shared_ptr<grpc::Channel> channel, this->channel(endpoint));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    const grpc::Status status = call(channel, context);
    if (status.ok()) {
      present_ = endpoint;
      ++counts_.answered;
      return {};
    }
    if (status.error_code() == grpc::StatusCode::NOT_FOUND) {
      ++counts_.answered;
      return {Code::kNotFound, status.error_message()};
    }
    failure = {Code::kUnavailable,
               fmt::format("etcd {}: {}: {}{}", options_.endpoints[endpoint], what,
                           status.error_message(), advice(options_, status.error_message()))};
    channels_[endpoint] = nullptr;
  }
  ++counts_.failed;
  return failure;
}

Result<Outcome> EtcdStore::commit(const Transaction& transaction) {
  const pb::TxnRequest request = to_request(transaction);
  pb::TxnResponse response;
  ECHOLINE_TRY(ask("Txn", [&](const auto& channel, grpc::ClientContext& context) {
    return pb::KV::NewStub(channel)->Txn(&context, request, &response);
  }));
  Outcome outcome = to_outcome(response);
  if (outcome.read.size() == transaction.reads.size()) return outcome;
  return Status(Code::kDataLoss, "etcd: an answer that does not fit the transaction");
}

Result<std::int64_t> EtcdStore::grant(std::int64_t seconds) {
  pb::LeaseGrantRequest request;
  request.set_ttl(seconds);
  pb::LeaseGrantResponse response;
  ECHOLINE_TRY(ask("LeaseGrant", [&](const auto& channel, grpc::ClientContext& context) {
    return pb::Lease::NewStub(channel)->LeaseGrant(&context, request, &response);
  }));
  return response.id();
}

Status EtcdStore::keep(std::int64_t lease) {
  pb::LeaseKeepAliveRequest request;
  request.set_id(lease);
  pb::LeaseKeepAliveResponse response;
  ECHOLINE_TRY(ask("LeaseKeepAlive", [&](const auto& channel, grpc::ClientContext& context) {
    const auto stream = pb::Lease::NewStub(channel)->LeaseKeepAlive(&context);
    const bool answered = stream->Write(request) && stream->WritesDone() && stream->Read(&response);
    const grpc::Status status = stream->Finish();
    return answered || !status.ok() ? status
                                    : grpc::Status(grpc::StatusCode::UNAVAILABLE, "no answer");
  }));
  if (response.ttl() > 0) return {};
  return {Code::kNotFound, "etcd: the lease has ended"};
}

Status EtcdStore::revoke(std::int64_t lease) {
  pb::LeaseRevokeRequest request;
  request.set_id(lease);
  pb::LeaseRevokeResponse response;
  return ask("LeaseRevoke", [&](const auto& channel, grpc::ClientContext& context) {
    return pb::Lease::NewStub(channel)->LeaseRevoke(&context, request, &response);
  });
}

}  // namespace echoline::agree
