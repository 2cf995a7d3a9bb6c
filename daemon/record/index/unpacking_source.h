// A source over compressed objects that serves ranges of their unpacked bytes. Each part of an
// object, of which most have one, is unpacked as a whole, once for all requests that come while its
// file is kept.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "record/index/unpacked_file.h"
#include "record/index/unpacked_files.h"
#include "record/index/unpacked_part.h"
#include "record/index/wanted_parts.h"
#include "source/core/forwarding_source.h"

namespace echoline::record {

// Threads as Source says; unpacking runs within poll, one piece at a time. Objects that are not
// compressed are read as they are. Memory stays at a few pieces per part that is being unpacked,
// and what its PartUnpacker needs. A part whose bytes cannot be unpacked, or that is forgotten, is
// read again, a few times, each piece until two answers are equal.
class UnpackingSource final : public source::ForwardingSource {
 public:
  UnpackingSource(std::unique_ptr<source::Source> inner, UnpackedParts parts,
                  UnpackingOptions options);
  // First the inner source: its reads in flight write into the files' pieces.
  ~UnpackingSource() override { inner_.reset(); }

  void submit(source::ReadRequest request) override;
  std::size_t slots_free() const override { return slots_ - waiting_.size() - passed_on_; }
  void poll(std::uint64_t deadline_ns, std::vector<source::ReadResult>& done) override;
  void forget(const source::ObjectInfo& object) override;
  void wake() override;
  source::Counters counters() const override;

 private:
  // A request in flight with the inner source: a piece of a file, or a caller's request as it is.
  struct Pending {
    UnpackedFile* file = nullptr;  // null: a caller's request
    UnpackedFile::Piece* piece = nullptr;
    std::uint64_t tag = 0;  // the caller's
  };

  // Answers the waiting requests whose bytes are there, and starts files for the others.
  void serve(std::vector<source::ReadResult>& done);
  // Whether the request no longer waits: it is answered, or passed on to the inner source. A
  // segment leaves its request as soon as its bytes are there, so that a request over several parts
  // never needs all of them at once.
  bool serve_one(source::ReadRequest& request, std::vector<source::ReadResult>& done);
  // Whether the segment's bytes were read.
  Result<bool> serve_segment(const source::ObjectInfo& object, const UnpackedPart& part,
                             const source::Segment& segment);
  void pass_on(const source::ReadRequest& request);
  // Requests the next pieces of the files that a request waits for.
  void read_pieces();
  void take_landed(std::vector<source::ReadResult>& done);
  void read_piece(UnpackedFile& file, UnpackedFile::Piece& piece);
  // Whether the piece is certain, or an error; else it is requested again.
  bool settle(UnpackedFile& file, UnpackedFile::Piece& piece, source::ReadResult& result);
  void unpack_landed(std::vector<source::ReadResult>& done);
  // Whether the part is read again after damage.
  bool read_again(const UnpackedFile& file, const Status& status);
  // Fails all requests that wait for the part.
  void fail(const UnpackedFile& file, const Status& status, std::vector<source::ReadResult>& done);

  WantedParts wanted_;
  std::deque<source::ReadRequest> waiting_;  // in the order of arrival
  UnpackedFiles files_;
  std::unordered_map<const UnpackedPart*, std::uint32_t> damaged_;  // how often in a row
  std::unordered_map<std::uint64_t, Pending> pending_;  // by the tag of the inner request
  std::uint64_t next_id_ = 0;
  std::size_t passed_on_ = 0;  // callers' requests with the inner source
  std::vector<source::ReadResult> inner_done_;
  std::atomic<std::uint64_t> in_flight_{0};
  std::atomic<std::uint64_t> restarts_{0};
  std::atomic<bool> woken_{false};
  const std::size_t slots_;
};

}  // namespace echoline::record
