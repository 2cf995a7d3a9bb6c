// A source turns an address and byte ranges into bytes. All storage access goes through this
// interface. Sources start no thread: the engine's I/O thread submits and polls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "source/core/access.h"
#include "source/core/counters.h"
#include "source/core/endpoint_rates.h"

namespace echoline::v1 {
class Read;
}

namespace echoline::source {

// One stored object. `version` identifies its content: the store's ETag, or size and mtime of a
// local file.
struct ObjectInfo {
  std::string url;
  std::uint64_t bytes = 0;
  std::string version;
};

// The end of messages about an object that has changed since it was indexed. A stream indexes its
// data when it is created.
inline constexpr std::string_view kReindexHint =
    "restart the daemon, or delete and create the stream, to index the data again";

// Bytes [offset, offset + destination.size()) of the object.
struct Segment {
  std::uint64_t offset = 0;
  std::span<std::byte> destination;
};

// A source may split a read of this size or more into parallel parts.
inline constexpr std::uint64_t kSplitReadBytes = 16 << 20;

// One transfer. Segments ascend and do not overlap. Small gaps between them are read and discarded,
// so adjacent records cost one request and still land in separate buffers.
struct ReadRequest {
  std::uint64_t tag = 0;  // given back with the result
  ObjectInfo object;      // kFailedPrecondition if the object no longer has this version
  std::vector<Segment> segments;
  bool with_checksums = false;  // the caller wants ReadResult::checksums
};

struct ReadResult {
  std::uint64_t tag = 0;
  Status status;         // after retries of transport failures, within the configured time-outs
  bool checked = false;  // the bytes agreed with the store's checksum of the whole object
  // The CRC-32C of each segment, if wanted, and if the source computes it while it copies the bytes
  // anyway; else empty.
  std::vector<std::uint32_t> checksums{};
};

// How often bytes are requested in total while they do not match their checksum, or while an answer
// cannot be understood.
inline constexpr std::uint32_t kAnswersMax = 4;
// How often bytes are requested in total until two answers are equal.
inline constexpr std::uint32_t kEqualAnswersMax = 8;

// Threads: one thread at a time calls list, list_all, put, submit, poll and forget; any thread may
// call wake, counters and rates.
class Source {
 public:
  virtual ~Source() = default;

  // Objects that match an address without braces, in bytewise order of their names. "*" matches
  // within a path segment; an address that ends in "/" is everything below it. Blocks.
  virtual Result<std::vector<ObjectInfo>> list(const std::string& url) = 0;

  // The objects of several addresses, in their order. A store gets many requests at a time.
  virtual Result<std::vector<ObjectInfo>> list_all(const std::vector<std::string>& urls);

  // Writes a small object; readers see the old or the new one, never a part. Only for a source
  // opened for writing; kPermissionDenied names the missing permission. Blocks.
  virtual Status put(const std::string& url, const std::string& bytes) = 0;

  // Starts a transfer. Between two polls at most slots_free() may be submitted, or as many as the
  // last poll returned results (the store's limit may have shrunk below those). The destinations
  // are written by submit and poll only. They must stay valid until the result is polled, or until
  // the last poll before the source is destroyed.
  virtual void submit(ReadRequest request) = 0;
  virtual std::size_t slots_free() const = 0;

  // Moves transfers on until at least one has ended, the deadline (monotonic_ns) has passed, or
  // wake was called. Appends the ended ones to `done`.
  virtual void poll(std::uint64_t deadline_ns, std::vector<ReadResult>& done) = 0;

  // How many equal answers make bytes certain that no checksum covers. 2: nothing protects them on
  // their way (no TLS, and read.checksums is all). 1: one answer of a store is
  // enough (TLS, or read.checksums: fast). 0: nothing needs to be
  // compared (local files, or read.checksums: none).
  virtual std::uint32_t answers_needed() const { return 0; }

  // The object is read again: the source drops its copies of the bytes.
  virtual void forget(const ObjectInfo&) {}
  // An answer had wrong bytes and is requested again.
  virtual void count_damaged() {}

  virtual void wake() = 0;
  virtual Counters counters() const = 0;
  // What was measured at the source's endpoint, by all streams of the process; nothing where the
  // number of requests is not searched for, as in local files.
  virtual std::vector<EndpointRates> rates() const { return {}; }
};

// Every address of a brace list, in the order written: a{1..3}, a{x,y}, nested and repeated.
Result<std::vector<std::string>> expand_braces(const std::string& url);

// One answer to a request.
struct Answer {
  std::vector<std::byte> bytes;
  bool checked = false;  // as in ReadResult
};

// Reads one range once and waits for it. Nothing else may be in flight.
Result<Answer> read_answer(Source& source, const ObjectInfo& object, std::uint64_t offset,
                           std::uint64_t bytes);

// Reads one range as often as answers_needed() says and waits for it: for headers and small files.
// kDataLoss if no two answers are equal. Nothing else may be in flight.
Result<std::vector<std::byte>> read_range(Source& source, const ObjectInfo& object,
                                          std::uint64_t offset, std::uint64_t bytes);

// The error after kEqualAnswersMax different answers: kDataLoss.
Status never_equal(const ObjectInfo& object, std::uint64_t offset, std::uint64_t bytes);

// Whether enough answers are equal: checksums of answers to the same request, one after the other.
class EqualAnswers {
 public:
  explicit EqualAnswers(std::uint32_t needed) : needed_(needed) {}
  // Takes the bytes of the next answer; true if they are certain.
  bool take(std::span<const std::byte> bytes, bool checked);
  // Whether the last answer differed from all before, of which there were some.
  bool differed() const { return seen_.size() > 1; }
  bool exhausted() const { return seen_.size() >= kEqualAnswersMax; }

 private:
  std::uint32_t needed_;
  std::vector<std::uint32_t> seen_;
};

}  // namespace echoline::source
