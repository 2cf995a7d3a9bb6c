// A source over compressed objects that is asked for unpacked bytes: each object is unpacked as a
// whole, once for all requests that come while it is kept.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "record/index/unpacked_file.h"
#include "source/core/source.h"

namespace echoline::record {

// Unpacked sizes by the address of the object.
using CompressedObjects = std::unordered_map<std::string, std::uint64_t>;

struct UnpackingOptions {
  std::string folder;           // for the unpacked bytes
  std::uint64_t bytes_max = 0;  // of them, in all
};

// Threads as Source says; unpacking is done within poll, a piece at a time. Objects that are not
// packed are read as they are. What is unpacked is kept until its room is wanted for another
// object, the longest unused first; memory stays at a few pieces an object in work. Bytes that do
// not unpack are read anew, a few times.
class UnpackingSource final : public source::Source {
 public:
  UnpackingSource(std::unique_ptr<source::Source> inner, CompressedObjects packed,
                  UnpackingOptions options);

  Result<std::vector<source::ObjectInfo>> list(const std::string& url) override;
  Result<std::vector<source::ObjectInfo>> list_all(const std::vector<std::string>& urls) override;
  Status put(const std::string& url, const std::string& bytes) override;
  void submit(source::ReadRequest request) override;
  std::size_t slots_free() const override { return slots_ - waiting_.size() - passing_; }
  void poll(std::uint64_t deadline_ns, std::vector<source::ReadResult>& done) override;
  void forget(const source::ObjectInfo& object) override;
  void wake() override;
  source::Counters counters() const override;

 private:
  using Files = std::list<std::unique_ptr<UnpackedFile>>;  // last used first
  // A request with the inner source: a piece of a file, or a caller's as it is.
  struct Pending {
    UnpackedFile* file = nullptr;
    UnpackedFile::Piece* piece = nullptr;
    std::uint64_t tag = 0;
  };

  void serve(std::vector<source::ReadResult>& done);
  bool ready(const source::ReadRequest& request, std::vector<source::ReadResult>& done);
  Status start(const source::ReadRequest& request);
  bool make_room(std::uint64_t bytes);
  bool is_wanted(const UnpackedFile& file) const;
  void read_pieces();
  void take_landed(std::vector<source::ReadResult>& done);
  void unpack_landed(std::vector<source::ReadResult>& done);
  bool read_again(const UnpackedFile& file, const Status& status);
  void fail(const UnpackedFile& file, const Status& status, std::vector<source::ReadResult>& done);
  void drop(const UnpackedFile& file);

  const CompressedObjects packed_;
  const UnpackingOptions options_;
  std::deque<source::ReadRequest> waiting_;
  Files files_;
  Files dropped_;  // failed, with pieces still in flight
  std::unordered_map<std::string, Files::iterator> by_url_;
  std::unordered_map<std::string, std::uint32_t> damaged_;  // how often in a row, by address
  std::unordered_map<std::uint64_t, Pending> pending_;
  std::uint64_t next_id_ = 0;
  std::uint64_t kept_bytes_ = 0;
  std::size_t passing_ = 0;  // callers' requests with the inner source
  std::vector<source::ReadResult> inner_done_;
  std::atomic<std::uint64_t> in_flight_{0};
  std::atomic<std::uint64_t> restarts_{0};
  std::atomic<bool> woken_{false};
  const std::unique_ptr<source::Source> inner_;  // goes first: it writes into the pieces
  const std::size_t slots_;
};

}  // namespace echoline::record
