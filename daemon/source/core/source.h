// A source turns an address and byte ranges into bytes: everything that touches storage is behind
// this interface. Sources are passive: the engine's I/O thread submits and polls; nothing here
// starts a thread.
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

namespace echoline::v1 {
class Read;
}

namespace echoline::source {

// One stored object. `version` pins its content: the store's ETag, or size and mtime of a local
// file.
struct ObjectInfo {
  std::string url;
  std::uint64_t bytes = 0;
  std::string version;
};

// Ends a message about an object that is not the one that was indexed. A stream does so when it is
// made.
inline constexpr std::string_view kIndexAnew =
    "restart the daemon, or delete and create the stream, to index the data anew";

// Bytes [offset, offset + destination.size()) of the object.
struct Segment {
  std::uint64_t offset = 0;
  std::span<std::byte> destination;
};

// A read of so many bytes or more may be made in parts, at once.
inline constexpr std::uint64_t kPartedBytes = 16 << 20;

// One transfer. Segments ascend and do not overlap; small gaps between them are read and thrown
// away, so neighbouring records cost one request and still land in buffers of their own.
struct ReadRequest {
  std::uint64_t tag = 0;  // given back with the result
  ObjectInfo object;      // a set version is checked: a changed object is kFailedPrecondition
  std::vector<Segment> segments;
};

struct ReadResult {
  std::uint64_t tag = 0;
  Status status;  // transport failures have been retried within the configured time-outs
};

// Thread rules: one thread at a time calls list, list_all, put, submit, poll and forget; any thread
// may call wake and counters.
class Source {
 public:
  virtual ~Source() = default;

  // Objects that match an address without braces, in bytewise order of their names. "*" matches
  // within a path segment; an address that ends in "/" is everything below it. Blocks.
  virtual Result<std::vector<ObjectInfo>> list(const std::string& url) = 0;

  // The lists of several addresses, one after the other; a store is asked about many at a time.
  virtual Result<std::vector<ObjectInfo>> list_all(const std::vector<std::string>& urls);

  // Writes a small object, whole: readers find the old one or the new one. Only of a source that
  // was opened for writing; a missing permission is kPermissionDenied and named. Blocks.
  virtual Status put(const std::string& url, const std::string& bytes) = 0;

  // Starts a transfer; at most `slots_free()` may be submitted before the next poll, or as many as
  // the last one gave results of (a store that wants fewer may have left no slot free for those).
  // The destinations must live until its result has been polled or the source is destroyed.
  virtual void submit(ReadRequest request) = 0;
  virtual std::size_t slots_free() const = 0;

  // Moves transfers on until at least one has ended, the deadline (monotonic_ns) has passed, or
  // wake was called; appends what has ended.
  virtual void poll(std::uint64_t deadline_ns, std::vector<ReadResult>& done) = 0;

  // Bytes of this object were not what they should be: none that are kept of it are given out
  // again.
  virtual void forget(const ObjectInfo&) {}

  virtual void wake() = 0;
  virtual Counters counters() const = 0;
};

// Every address a brace list stands for, in the order written: a{1..3}, a{x,y}, nested and
// repeated.
Result<std::vector<std::string>> expand_braces(const std::string& url);

// Reads one range and waits for it: for listings, headers and small files.
Result<std::vector<std::byte>> read_range(Source& source, const ObjectInfo& object,
                                          std::uint64_t offset, std::uint64_t bytes);

}  // namespace echoline::source
