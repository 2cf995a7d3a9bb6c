// Amazon S3 and the servers that speak as it does: addresses, signatures, errors.
#pragma once

#include <string>

#include "source/object_store.h"
#include "source/s3_sign.h"

namespace echoline::source {

enum class Addressing { kAuto, kPath, kVirtual };

struct S3Options {
  std::string endpoint;  // http(s)://host[:port]; empty for AWS itself
  std::string region;    // of the buckets; used to sign, and to find AWS
  Addressing addressing = Addressing::kAuto;
  Credentials credentials;  // anonymous if empty
};

class S3Store : public ObjectStore {
 public:
  // kInvalidArgument if the endpoint or the region can't be one.
  static Result<std::unique_ptr<ObjectStore>> open(S3Options options);

  HttpRequest get(const Address& address, const std::string& version, std::uint64_t begin,
                  std::uint64_t end, std::time_t now) override;
  HttpRequest get_whole(const Address& address, const std::string& version, std::uint64_t bytes,
                        std::time_t now) override;
  HttpRequest head(const Address& address, std::time_t now) override;
  HttpRequest list(const ListQuery& query, std::time_t now) override;
  std::string version_of(const HttpResponse& response) const override;
  Result<ListPage> parse_list(std::string_view body) const override;
  Verdict refuse(const HttpResponse& response, std::string_view body) const override;

 private:
  explicit S3Store(S3Options options) : options_(std::move(options)) {}

  // Where a request for a bucket goes: "https", "bucket.host" and "/key", or "host" and
  // "/bucket/key".
  struct Place {
    std::string scheme;
    std::string host;
    std::string path;
  };
  Place place(const std::string& bucket, const std::string& key) const;
  HttpRequest signed_request(std::string method, const Place& place, NamedValues query,
                             NamedValues headers, std::time_t now) const;
  std::string scrubbed(std::string text) const;

  S3Options options_;
};

}  // namespace echoline::source
