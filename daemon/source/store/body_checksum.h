// The checksum that a store sends for a whole object, and whether the received bytes match it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "source/http/http_transfers.h"

struct evp_md_ctx_st;

namespace echoline::source {

// Which checksums are checked; shared by the reads of one source.
struct ChecksumPolicy {
  enum class Level : std::uint8_t { kNone, kFast, kAll };  // kFast leaves out MD5
  Level level = Level::kAll;
  bool etag_is_md5 = false;            // as S3 does for unencrypted objects of one part
  std::atomic<bool> etag_held{false};  // an ETag has matched the MD5 of its object
};

// The expected checksum of one object, and that of the bytes received so far. One thread.
class BodyChecksum {
 public:
  enum class Kind : std::uint8_t { kCrc32c, kCrc32, kCrc64Nvme, kMd5, kEtag };

  // The cheapest checksum of the whole object that the response headers contain, if any.
  static std::optional<BodyChecksum> offered(const HttpResponse& response,
                                             const ChecksumPolicy& policy);

  Kind kind() const { return kind_; }
  void add(std::span<const std::byte> bytes);
  void restart();
  bool agrees() const { return value() == expected_; }

  // The checksum of the received bytes, as raw bytes in the store's byte order.
  std::string value() const;
  // For messages: "CRC32C".
  std::string_view name() const;

 private:
  struct ContextDeleter {
    void operator()(evp_md_ctx_st* context) const;
  };

  BodyChecksum(Kind kind, std::string expected);

  Kind kind_;
  std::string expected_;
  std::uint64_t crc_ = 0;
  std::unique_ptr<evp_md_ctx_st, ContextDeleter> md5_;
};

}  // namespace echoline::source
