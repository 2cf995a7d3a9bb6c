// The words of one kind of store (S3, Google Cloud Storage, web servers): which request asks for
// what, and what its answers mean. Makes no requests itself.
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

// How an object's size and version are asked for. Stores that answer HEAD in few words, or refuse
// the first way, are asked a second one before an error is final.
enum class Ask { kFirst, kAgain };

struct ListQuery {
  std::string url;  // what is listed, for messages
  std::string bucket;
  std::string prefix;
  std::string delimiter;     // "/" keeps to one level; empty lists all below
  std::string continuation;  // of the page before; empty for the first
  std::uint32_t entries_max = 1000;
  bool verbatim = false;  // keys not encoded
};

struct ListEntry {
  std::string key;
  std::uint64_t bytes = 0;
  std::string version;
};

struct ListPage {
  std::vector<ListEntry> entries;
  std::string next;  // continuation of the next page; empty at the end
  bool truncated = false;
  bool ambiguous = false;  // keys can't be decoded with certainty: ask again, verbatim
};

// One thread.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  // Whether requests can be made now; not while credentials are being fetched
  // (HttpOperation::ready).
  virtual Verdict ready(std::time_t) { return {}; }

  // Bytes [begin, end) of an object; a set version is asked for. end > begin.
  virtual HttpRequest get(const Address& address, const std::string& version, std::uint64_t begin,
                          std::uint64_t end, std::time_t now) = 0;
  // All bytes of an object of that size (not 0), with the store's checksum of them if it has one.
  virtual HttpRequest get_whole(const Address& address, const std::string& version,
                                std::uint64_t bytes, std::time_t now) {
    return get(address, version, 0, bytes, now);
  }

  // Size and version of an object, and what the answer (with the start of its body) says of them;
  // kDataLoss is worth another attempt.
  virtual HttpRequest stat(const Address& address, Ask ask, std::time_t now) = 0;
  virtual Result<ListEntry> parse_stat(const HttpResponse& response,
                                       std::string_view body) const = 0;

  virtual HttpRequest list(const ListQuery& query, std::time_t now) = 0;

  // Writes an object whole; any 2xx answer says that it is there.
  virtual HttpRequest put(const Address& address, const std::string& bytes, std::time_t now) = 0;

  // The version that a response of get is of; empty if it doesn't say.
  virtual std::string version_of(const HttpResponse& response) const = 0;

  virtual Result<ListPage> parse_list(std::string_view body) const = 0;

  // What an answer other than 2xx means, and what to do about it.
  virtual Verdict refuse(const HttpResponse& response, std::string_view body,
                         Access wanted) const = 0;
};

}  // namespace echoline::source
