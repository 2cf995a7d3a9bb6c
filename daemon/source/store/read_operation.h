// Reads one range of an object into the segments of a request.
#pragma once

#include <optional>

#include "source/core/address.h"
#include "source/core/counters.h"
#include "source/store/body_checksum.h"
#include "source/store/scatter.h"
#include "source/store/store_operation.h"

namespace echoline::source {

// Bytes reach the segments only after version and range of the response have been checked.
class ReadOperation : public StoreOperation {
 public:
  // The store, the policy and the counters must outlive it.
  ReadOperation(ObjectStore& store, Address address, ReadRequest request, ChecksumPolicy& policy,
                SharedCounters& counters);

  HttpRequest request(std::time_t now) override;
  bool consume(std::span<const std::byte> bytes) override;
  Verdict complete() override;
  Verdict refuse(const HttpResponse& response, std::string_view body) override;
  std::uint64_t progress() const override { return scatter_.position() - scatter_.begin(); }
  std::uint64_t bytes_left() const override { return scatter_.end() - scatter_.position(); }
  std::string what() const override { return object_.url; }
  // After success: the bytes agreed with the store's checksum of the object, or came twice equally
  // although its ETag, which is no MD5, disagreed.
  bool checked() const { return checksum_.has_value(); }
  // After success: as in ReadResult.
  const std::vector<std::uint32_t>& checksums() const { return scatter_.checksums(); }

 private:
  // Compares the version, and finds out which bytes follow.
  Verdict take_head(const HttpResponse& response) override;
  // For status 206: the answer may start before the first missing byte, not after it.
  Verdict accept_part(const HttpResponse& response);
  // For a server that ignores ranges.
  Verdict accept_whole(const HttpResponse& response);
  // The place from which a request reads: the first missing byte.
  std::uint64_t next_byte() const;
  // The answer's bytes start at `begin` and go into the segments.
  void take_body(std::uint64_t begin, std::uint64_t bytes);
  // The object must reach the end of the request. One with a version must be as long as indexed.
  Verdict check_size(std::uint64_t total) const;
  // At the end: compares the checksum, if there is one.
  Verdict check_bytes();
  // The answer's bytes are elsewhere, or the answer is an error.
  bool is_elsewhere(const HttpResponse& response);
  // Discards everything received so far.
  void forget();

  const Address address_;
  const ObjectInfo object_;
  ChecksumPolicy& policy_;
  SharedCounters& counters_;
  Scatter scatter_;
  const bool is_whole_;  // the request covers the whole object
  std::optional<BodyChecksum>
      checksum_;  // of the bytes before position(); empty if the store sent none
  std::uint32_t mismatches_ = 0;
  std::string mismatched_;       // checksum of the bytes that did not match the last time
  std::uint64_t skip_ = 0;       // bytes of the body before the first wanted one
  std::uint64_t body_left_ = 0;  // bytes still to come
  bool body_too_long_ = false;
  std::uint32_t redirects_ = 0;  // in a row
  std::uint32_t withdrawn_ = 0;  // addresses of the bytes that were refused since a good answer
};

}  // namespace echoline::source
