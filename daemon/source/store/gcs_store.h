// Google Cloud Storage through its JSON API: its listings contain generations, its errors contain
// text, and every emulator supports it.
#pragma once

#include <memory>
#include <string>

#include "source/credentials/credential_source.h"
#include "source/http/endpoint.h"
#include "source/store/object_store.h"

namespace echoline::source {

struct GcsOptions {
  std::string endpoint;  // http(s)://host[:port]; empty for Google itself
  std::shared_ptr<CredentialSource> credentials;
};

class GcsStore : public ObjectStore {
 public:
  // kInvalidArgument if the endpoint is invalid, or if others could read the tokens on the way to
  // it.
  static Result<std::unique_ptr<ObjectStore>> open(GcsOptions options);

  Verdict ready(std::time_t now) override { return options_.credentials->ready(now); }
  void note_accepted(const HttpResponse&) override { options_.credentials->note_accepted(); }
  bool uses_tls(const Address&) const override { return endpoint_.is_tls(); }
  HttpRequest get(const Address& address, const std::string& version, std::uint64_t begin,
                  std::uint64_t end, std::time_t now) override;
  HttpRequest stat(const Address& address, StatMethod method, std::time_t now) override;
  Result<ListEntry> parse_stat(const HttpResponse& response, std::string_view body) const override;
  HttpRequest list(const ListQuery& query, std::time_t now) override;
  HttpRequest put(const Address& address, const std::string& bytes, std::time_t now) override;
  std::string version_of(const HttpResponse& response) const override;
  Result<ListPage> parse_list(const ListQuery& query, const HttpResponse& response,
                              std::string_view body) const override;
  Verdict refuse(const HttpResponse& response, std::string_view body, Access wanted) const override;

 private:
  GcsStore(GcsOptions options, Endpoint endpoint)
      : options_(std::move(options)), endpoint_(std::move(endpoint)) {}

  // A GET of this target, with the present token.
  HttpRequest request(const std::string& target) const;

  const GcsOptions options_;
  const Endpoint endpoint_;
};

}  // namespace echoline::source
