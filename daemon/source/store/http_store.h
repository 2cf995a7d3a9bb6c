// Plain web servers: files by name, in ranges, with ETag or date as version. There is no listing.
#pragma once

#include "source/store/object_store.h"

namespace echoline::source {

// The version is a strong ETag with its quotes, else a weak one (W/"..."), else the date of the
// last change.
class HttpStore : public ObjectStore {
 public:
  bool uses_tls(const Address& address) const override {
    return address.url().starts_with("https:");
  }
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
};

}  // namespace echoline::source
