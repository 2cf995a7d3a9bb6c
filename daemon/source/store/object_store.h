// The protocol of one kind of store (S3, Google Cloud Storage, the Hub, web servers): builds
// requests and interprets answers. Sends nothing.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "source/core/access.h"
#include "source/core/address.h"
#include "source/core/source.h"
#include "source/http/http_operation.h"
#include "source/http/http_transfers.h"

namespace echoline::source {

// How to request an object's size and version. The fallback is for stores that refuse the preferred
// way, or answer it without an error text.
enum class StatMethod : std::uint8_t { kPreferred, kFallback };

struct ListQuery {
  std::string url;  // the address, for messages
  std::string bucket;
  std::string prefix;
  std::string delimiter;     // "/" lists one level; empty lists everything below
  std::string continuation;  // from the previous page; empty for the first
  std::uint32_t entries_max = 1000;
  bool verbatim = false;           // keys not percent-encoded
  std::vector<std::string> names;  // only these objects (ObjectStore::names_max); no prefix
};

struct ListEntry {
  std::string key;
  std::uint64_t bytes = 0;
  std::string version;
  bool operator==(const ListEntry&) const = default;
};

struct ListPage {
  std::vector<ListEntry> entries;
  std::string next;  // continuation for the next page; empty on the last
  bool truncated = false;
  bool ambiguous = false;  // the decoding of keys is not certain: request it again with `verbatim`
};

// Used by one thread.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  // Whether requests can be made now; a verdict to retry while credentials are being fetched
  // (HttpOperation::ready).
  virtual Verdict ready(std::time_t) { return {}; }

  // Whether TLS protects the answers about an object on their way.
  virtual bool uses_tls(const Address& address) const = 0;

  // A store with branches: whether it must be asked first which commit the bucket's name means.
  virtual bool needs_pin(const std::string&) const { return false; }
  // That request, and its answer: all later requests are for this commit. A kDataLoss is worth a
  // retry.
  virtual HttpRequest pin(const std::string&) { return {}; }
  virtual Status take_pin(const std::string&, std::string_view) { return {}; }

  // Requests bytes [begin, end) of an object, of this version if one is set. end > begin.
  virtual HttpRequest get(const Address& address, const std::string& version, std::uint64_t begin,
                          std::uint64_t end, std::time_t now) = 0;
  // Requests all bytes of an object of that size (not 0), with the store's checksum if it has one.
  virtual HttpRequest get_whole(const Address& address, const std::string& version,
                                std::uint64_t bytes, std::time_t now) {
    return get(address, version, 0, bytes, now);
  }

  // Requests size and version of an object; parse_stat reads the answer and the start of its body.
  // A kDataLoss is worth a retry.
  virtual HttpRequest stat(const Address& address, StatMethod method, std::time_t now) = 0;
  virtual Result<ListEntry> parse_stat(const HttpResponse& response,
                                       std::string_view body) const = 0;

  virtual HttpRequest list(const ListQuery& query, std::time_t now) = 0;
  // How many objects one listing can name (ListQuery::names). 0: sizes come from stat, one by one.
  virtual std::size_t names_max() const { return 0; }

  // Writes an object; any 2xx answer means that it is stored.
  virtual HttpRequest put(const Address& address, const std::string& bytes, std::time_t now) = 0;

  // The version in a response to get; empty if there is none.
  virtual std::string version_of(const HttpResponse& response) const = 0;

  virtual Result<ListPage> parse_list(const ListQuery& query, const HttpResponse& response,
                                      std::string_view body) const = 0;

  // Takes an answer to get that says where the object's bytes are, or that they are not there any
  // more. True: the next request for them goes to another address, so it is sent at once.
  virtual bool moves(const Address&, const std::string& /*version*/, const HttpResponse&) {
    return false;
  }

  // This answer was 2xx: the store accepts the credentials.
  virtual void note_accepted(const HttpResponse&) {}

  // Judges an answer other than 2xx; the status says what to do about it.
  virtual Verdict refuse(const HttpResponse& response, std::string_view body,
                         Access wanted) const = 0;
};

}  // namespace echoline::source
