// Amazon S3 and compatible servers: addresses, signatures, errors.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "source/credentials/aws_sign.h"
#include "source/credentials/credential_source.h"
#include "source/http/endpoint.h"
#include "source/store/object_store.h"
#include "source/store/s3_list.h"

namespace echoline::source {

enum class Addressing { kAuto, kPath, kVirtual };

struct S3Options {
  std::string endpoint;  // http(s)://host[:port]; empty for AWS itself
  std::string region;    // of the buckets; for signatures, and for the host name of AWS
  Addressing addressing = Addressing::kAuto;
  std::shared_ptr<CredentialSource> credentials;
};

class S3Store : public ObjectStore {
 public:
  // kInvalidArgument if the endpoint or the region is invalid.
  static Result<std::unique_ptr<ObjectStore>> open(S3Options options);

  Verdict ready(std::time_t now) override { return options_.credentials->ready(now); }
  void note_accepted(const HttpResponse&) override { options_.credentials->note_accepted(); }
  bool uses_tls(const Address&) const override { return !endpoint_ || endpoint_->is_tls(); }
  HttpRequest get(const Address& address, const std::string& version, std::uint64_t begin,
                  std::uint64_t end, std::time_t now) override;
  HttpRequest get_whole(const Address& address, const std::string& version, std::uint64_t bytes,
                        std::time_t now) override;
  HttpRequest stat(const Address& address, StatMethod method, std::time_t now) override;
  Result<ListEntry> parse_stat(const HttpResponse& response, std::string_view body) const override;
  HttpRequest list(const ListQuery& query, std::time_t now) override;
  HttpRequest put(const Address& address, const std::string& bytes, std::time_t now) override;
  std::string version_of(const HttpResponse& response) const override;
  Result<ListPage> parse_list(const ListQuery& query, const HttpResponse& response,
                              std::string_view body) const override;
  Verdict refuse(const HttpResponse& response, std::string_view body, Access wanted) const override;

 private:
  S3Store(S3Options options, std::optional<Endpoint> endpoint)
      : options_(std::move(options)), endpoint_(std::move(endpoint)) {}

  // Where a request for a bucket goes: "https", "bucket.host" and "/key", or "https", "host" and
  // "/bucket/key".
  struct BucketTarget {
    std::string scheme;
    std::string host;
    std::string path;
  };
  BucketTarget target_of(const std::string& bucket, const std::string& key) const;
  // A request that is signed for the time `now`.
  HttpRequest signed_request(std::string method, const BucketTarget& target, NamedValues query,
                             NamedValues headers, std::time_t now, std::string body = {}) const;
  // What to do about a refusal whose text has no secret any more.
  Verdict judge(int status, const S3Error& error, std::string text, std::string_view region,
                Access wanted) const;

  const S3Options options_;
  const std::optional<Endpoint> endpoint_;  // empty for AWS itself
};

}  // namespace echoline::source
