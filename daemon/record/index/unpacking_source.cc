// Each turn of poll answers the requests whose bytes are unpacked, and unpacks one more piece of
// the objects that the others wait for.
#include "record/index/unpacking_source.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/log.h"

namespace echoline::record {

UnpackingSource::UnpackingSource(std::unique_ptr<source::Source> inner, UnpackedParts parts,
                                 UnpackingOptions options)
    : ForwardingSource(std::move(inner)),
      wanted_(std::move(parts)),
      files_(std::move(options),
             [this](const UnpackedPart& part) { return wanted_.contains(part); }),
      slots_(std::max<std::size_t>(1, inner_->slots_free())) {}

void UnpackingSource::submit(source::ReadRequest request) {
  // Nothing is read here: destinations are written by poll only.
  in_flight_.fetch_add(1, std::memory_order_relaxed);
  wanted_.add(request);
  waiting_.push_back(std::move(request));
}

void UnpackingSource::wake() {
  woken_.store(true, std::memory_order_release);
  inner_->wake();
}

// Counts the callers' requests: pieces in flight are the inner source's.
source::Counters UnpackingSource::counters() const {
  source::Counters counters = inner_->counters();
  counters.in_flight = in_flight_.load(std::memory_order_relaxed);
  counters.requests_retried += restarts_.load(std::memory_order_relaxed);
  return counters;
}

void UnpackingSource::poll(std::uint64_t deadline_ns, std::vector<source::ReadResult>& done) {
  const std::size_t before = done.size();
  while (true) {
    serve(done);
    read_pieces();
    // Results are delivered at once; a wake ends the poll.
    if (done.size() > before || woken_.exchange(false, std::memory_order_acquire)) break;
    // Do not wait for other pieces if one can be unpacked now.
    const bool landed = std::any_of(
        files_.unfinished().begin(), files_.unfinished().end(),
        [this](const auto* file) { return file->has_landed() && wanted_.contains(file->part()); });
    inner_->poll(landed ? monotonic_ns() : deadline_ns, inner_done_);
    take_landed(done);
    unpack_landed(done);
    if (monotonic_ns() >= deadline_ns) {
      serve(done);
      break;
    }
  }
  // All results of this poll leave the count at once.
  in_flight_.fetch_sub(done.size() - before, std::memory_order_relaxed);
}

void UnpackingSource::serve(std::vector<source::ReadResult>& done) {
  for (auto request = waiting_.begin(); request != waiting_.end();) {
    request = serve_one(*request, done) ? waiting_.erase(request) : request + 1;
  }
}

bool UnpackingSource::serve_one(source::ReadRequest& request,
                                std::vector<source::ReadResult>& done) {
  const auto* parts = wanted_.parts_of(request.object.url);
  if (parts == nullptr) {
    if (inner_->slots_free() == 0) return false;
    pass_on(request);
    return true;
  }
  auto next = request.segments.begin();
  Result<bool> served = true;
  for (; next != request.segments.end(); ++next) {
    const UnpackedPart& part = WantedParts::part_at(*parts, next->offset);
    served = serve_segment(request.object, part, *next);
    if (!served.ok() || !*served) break;
    wanted_.remove_one(part);
  }
  request.segments.erase(request.segments.begin(), next);
  if (served.ok() && !request.segments.empty()) return false;
  wanted_.remove(request);
  done.push_back({request.tag, served.status()});
  return true;
}

Result<bool> UnpackingSource::serve_segment(const source::ObjectInfo& object,
                                            const UnpackedPart& part,
                                            const source::Segment& segment) {
  const UnpackedFile* file = files_.use(part);
  if (file == nullptr) {
    ECHOLINE_TRY(files_.start(object, part));
    return false;
  }
  const std::uint64_t begin = segment.offset - part.begin;
  // A request beyond the end does not wait; read() then fails.
  if (file->unpacked() < std::min(begin + segment.destination.size(), file->bytes())) return false;
  ECHOLINE_TRY(file->read(begin, segment.destination));
  return true;
}

void UnpackingSource::pass_on(const source::ReadRequest& request) {
  source::ReadRequest inner = request;
  inner.tag = next_id_++;
  pending_[inner.tag] = {nullptr, nullptr, request.tag};
  ++passed_on_;
  inner_->submit(std::move(inner));
}

void UnpackingSource::read_pieces() {
  for (UnpackedFile* const file : files_.unfinished()) {
    if (file->complete() || !wanted_.contains(file->part())) continue;
    while (inner_->slots_free() > 0) {
      UnpackedFile::Piece* piece = file->next_piece();
      if (piece == nullptr) break;
      read_piece(*file, *piece);
    }
  }
}

void UnpackingSource::read_piece(UnpackedFile& file, UnpackedFile::Piece& piece) {
  source::ReadRequest request;
  request.tag = next_id_++;
  request.object = file.object();
  request.segments.push_back({piece.offset, piece.bytes.span()});
  pending_[request.tag] = {&file, &piece, 0};
  inner_->submit(std::move(request));
}

bool UnpackingSource::settle(UnpackedFile& file, UnpackedFile::Piece& piece,
                             source::ReadResult& result) {
  if (!result.status.ok() || !files_.contains(file)) return true;
  if (piece.answers.take(piece.bytes.span(), result.checked)) return true;
  if (piece.answers.differed()) inner_->count_damaged();
  if (piece.answers.exhausted()) {
    result.status = source::never_equal(file.object(), piece.offset, piece.bytes.size());
    return true;
  }
  read_piece(file, piece);
  return false;
}

void UnpackingSource::take_landed(std::vector<source::ReadResult>& done) {
  for (source::ReadResult& result : inner_done_) {
    const auto found = pending_.find(result.tag);
    const Pending pending = found->second;
    pending_.erase(found);
    if (pending.file == nullptr) {
      --passed_on_;
      done.push_back({pending.tag, std::move(result.status), result.checked});
      continue;
    }
    if (!settle(*pending.file, *pending.piece, result)) continue;
    pending.piece->landed = true;
    if (!result.status.ok()) fail(*pending.file, result.status, done);
  }
  inner_done_.clear();
  files_.free_dropped();
}

void UnpackingSource::unpack_landed(std::vector<source::ReadResult>& done) {
  std::vector<std::pair<const UnpackedFile*, Status>> failed;
  for (UnpackedFile* const file : files_.unfinished()) {
    const Result<bool> advanced = file->advance();
    if (!advanced.ok()) {
      failed.emplace_back(file, advanced.status().with_context(file->object().url));
    } else if (*advanced && file->complete()) {
      damaged_.erase(&file->part());
    }
  }
  files_.forget_complete();
  // Not within the loop above: failing a file removes it from the list.
  for (const auto& [file, status] : failed) {
    if (!read_again(*file, status)) fail(*file, status, done);
  }
}

// The request pinned the object's version, so damaged bytes can only be an error of the transfer,
// which may not repeat.
bool UnpackingSource::read_again(const UnpackedFile& file, const Status& status) {
  const bool damaged =
      status.code() == Code::kDataLoss || status.code() == Code::kFailedPrecondition;
  if (!damaged || ++damaged_[&file.part()] >= source::kAnswersMax) return false;
  inner_->count_damaged();
  log_warning("record", "{}; reading it again", status.message());
  restarts_.fetch_add(1, std::memory_order_relaxed);
  files_.doubt(file.part());
  return true;
}

// Which of its parts had wrong bytes is not said.
void UnpackingSource::forget(const source::ObjectInfo& object) {
  const auto* parts = wanted_.parts_of(object.url);
  if (parts == nullptr) return;
  for (const UnpackedPart& part : *parts) files_.doubt(part);
}

// The next request for the part starts a new file.
void UnpackingSource::fail(const UnpackedFile& file, const Status& status,
                           std::vector<source::ReadResult>& done) {
  if (!files_.contains(file)) return;  // another of its pieces has failed before
  const UnpackedPart& part = file.part();
  std::erase_if(waiting_, [&](const source::ReadRequest& request) {
    if (!wanted_.waits_for(request, part)) return false;
    wanted_.remove(request);
    done.push_back({request.tag, status});
    return true;
  });
  damaged_.erase(&part);
  files_.drop(file);
}

}  // namespace echoline::record
