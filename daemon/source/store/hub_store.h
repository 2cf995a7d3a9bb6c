// Data sets on the Hugging Face Hub, by its documented interface: a revision is a commit from the
// start on, folders are listed by tree, and resolve redirects to the storage that has the bytes.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "source/credentials/credential_source.h"
#include "source/http/endpoint.h"
#include "source/store/hub_targets.h"
#include "source/store/object_store.h"

namespace echoline::source {

struct HubOptions {
  std::string endpoint;  // http(s)://host[:port]; empty for huggingface.co
  std::shared_ptr<CredentialSource> credentials;
};

// The version of an object is the commit. The token is sent to the endpoint only, never to the
// address of a redirect to another host.
class HubStore : public ObjectStore {
 public:
  // kInvalidArgument if the endpoint is invalid, or if others could read the token on the way to
  // it.
  static Result<std::unique_ptr<ObjectStore>> open(HubOptions options);

  Verdict ready(std::time_t now) override { return options_.credentials->ready(now); }
  // Not by the storage, which never sees the token.
  void note_accepted(const HttpResponse& response) override {
    if (is_at_endpoint(response.url)) options_.credentials->note_accepted();
  }
  bool uses_tls(const Address&) const override { return endpoint_.is_tls(); }
  bool needs_pin(const std::string& bucket) const override { return !commits_.contains(bucket); }
  HttpRequest pin(const std::string& bucket) override;
  Status take_pin(const std::string& bucket, std::string_view body) override;
  HttpRequest get(const Address& address, const std::string& version, std::uint64_t begin,
                  std::uint64_t end, std::time_t now) override;
  bool moves(const Address& address, const std::string& version,
             const HttpResponse& response) override;
  // Never called: names_max() says that sizes come from listings.
  HttpRequest stat(const Address& address, StatMethod method, std::time_t now) override;
  Result<ListEntry> parse_stat(const HttpResponse& response, std::string_view body) const override;
  HttpRequest list(const ListQuery& query, std::time_t now) override;
  std::size_t names_max() const override;
  HttpRequest put(const Address& address, const std::string& bytes, std::time_t now) override;
  std::string version_of(const HttpResponse& response) const override;
  Result<ListPage> parse_list(const ListQuery& query, const HttpResponse& response,
                              std::string_view body) const override;
  Verdict refuse(const HttpResponse& response, std::string_view body, Access wanted) const override;

 private:
  HubStore(HubOptions options, Endpoint endpoint)
      : options_(std::move(options)), endpoint_(std::move(endpoint)) {}

  // A GET, with the present token if it goes to the endpoint.
  HttpRequest request(std::string url) const;
  bool is_at_endpoint(std::string_view url) const;
  // "https://host/api/datasets/OWNER/NAME/WHAT/" and the commit of the bucket.
  std::string api_url(const std::string& bucket, std::string_view what) const;
  // The address at which the Hub is asked for a file.
  std::string file_url(const Address& address, const std::string& version) const;
  // The absolute address of a redirect; empty if it must not be followed.
  std::string target_of(const HttpResponse& response) const;
  // Judges a refusal of the storage that redirects lead to.
  Verdict refuse_storage(const HttpResponse& response) const;

  const HubOptions options_;
  const Endpoint endpoint_;
  std::map<std::string, std::string> commits_;  // by bucket, as ObjectStore::pin
  HubTargets targets_;                          // by file_url()
};

}  // namespace echoline::source
