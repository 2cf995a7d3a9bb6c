// Each turn of poll answers the requests whose bytes are unpacked, and unpacks one more piece of
// the objects that the others wait for.
#include "record/index/unpacking_source.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/log.h"

namespace echoline::record {
namespace {

std::uint64_t end_of(const source::ReadRequest& request) {
  if (request.segments.empty()) return 0;
  const source::Segment& last = request.segments.back();
  return last.offset + last.destination.size();
}

}  // namespace

UnpackingSource::UnpackingSource(std::unique_ptr<source::Source> inner,
                                 CompressedObjects compressed, UnpackingOptions options)
    : ForwardingSource(std::move(inner)),
      compressed_(std::move(compressed)),
      files_(std::move(options), [this](const UnpackedFile& file) { return is_wanted(file); }),
      slots_(std::max<std::size_t>(1, inner_->slots_free())) {}

void UnpackingSource::submit(source::ReadRequest request) {
  // Nothing is read here: destinations are written by poll only.
  in_flight_.fetch_add(1, std::memory_order_relaxed);
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
    const bool landed =
        std::any_of(files_.all().begin(), files_.all().end(),
                    [this](const auto& file) { return is_wanted(*file) && file->has_landed(); });
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

bool UnpackingSource::serve_one(const source::ReadRequest& request,
                                std::vector<source::ReadResult>& done) {
  const auto form = compressed_.find(request.object.url);
  if (form == compressed_.end()) {
    if (inner_->slots_free() == 0) return false;
    pass_on(request);
    return true;
  }
  const UnpackedFile* file = files_.use(request.object.url);
  if (file == nullptr) {
    Status status = files_.start(request.object, form->second);
    UnpackedFile* started = status.ok() ? files_.use(request.object.url) : nullptr;
    // No piece was requested yet, so the file can still be made careful.
    if (started != nullptr && doubted_.erase(request.object.url) > 0) started->be_careful();
    if (status.ok()) return false;
    done.push_back({request.tag, std::move(status)});
    return true;
  }
  // A request beyond the end does not wait; read() then fails.
  if (file->unpacked() < std::min(end_of(request), file->bytes())) return false;
  Status status;
  for (const source::Segment& segment : request.segments) {
    if (status.ok()) status = file->read(segment.offset, segment.destination);
  }
  done.push_back({request.tag, std::move(status)});
  return true;
}

void UnpackingSource::pass_on(const source::ReadRequest& request) {
  source::ReadRequest inner = request;
  inner.tag = next_id_++;
  pending_[inner.tag] = {nullptr, nullptr, request.tag};
  ++passed_on_;
  inner_->submit(std::move(inner));
}

bool UnpackingSource::is_wanted(const UnpackedFile& file) const {
  return std::any_of(waiting_.begin(), waiting_.end(), [&file](const source::ReadRequest& request) {
    return request.object.url == file.object().url;
  });
}

void UnpackingSource::read_pieces() {
  for (const auto& file : files_.all()) {
    if (file->complete() || !is_wanted(*file)) continue;
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
  request.segments.push_back({piece.offset, piece.bytes});
  pending_[request.tag] = {&file, &piece, 0};
  inner_->submit(std::move(request));
}

bool UnpackingSource::settle(UnpackedFile& file, UnpackedFile::Piece& piece,
                             source::ReadResult& result) {
  if (!result.status.ok() || !files_.contains(file)) return true;
  if (piece.answers.take(piece.bytes, result.checked)) return true;
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
  for (const auto& file : files_.all()) {
    const Result<bool> advanced = file->advance();
    if (!advanced.ok()) {
      failed.emplace_back(file.get(), advanced.status().with_context(file->object().url));
    } else if (*advanced && file->complete()) {
      damaged_.erase(file->object().url);
    }
  }
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
  if (!damaged || ++damaged_[file.object().url] >= source::kAnswersMax) return false;
  inner_->count_damaged();
  doubted_.insert(file.object().url);
  log_warning("record", "{}; reading it again", status.message());
  restarts_.fetch_add(1, std::memory_order_relaxed);
  files_.drop(file);
  return true;
}

void UnpackingSource::forget(const source::ObjectInfo& object) {
  const UnpackedFile* file = files_.use(object.url);
  if (file == nullptr) return;
  doubted_.insert(object.url);
  files_.drop(*file);
}

// The next request for the object starts a new file.
void UnpackingSource::fail(const UnpackedFile& file, const Status& status,
                           std::vector<source::ReadResult>& done) {
  if (!files_.contains(file)) return;  // another of its pieces has failed before
  std::erase_if(waiting_, [&](const source::ReadRequest& request) {
    if (request.object.url != file.object().url) return false;
    done.push_back({request.tag, status});
    return true;
  });
  damaged_.erase(file.object().url);
  files_.drop(file);
}

}  // namespace echoline::record
