// Requests wait in the order they came; each turn of poll serves those whose bytes are there, and
// moves the objects that others wait for on by a piece.
#include "record/index/unpacking_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "record/core/record_check.h"

namespace echoline::record {
namespace {

// Objects that are unpacked at the same time; requests for others wait.
constexpr std::size_t kAtOnce = 4;

std::uint64_t end_of(const source::ReadRequest& request) {
  if (request.segments.empty()) return 0;
  const source::Segment& last = request.segments.back();
  return last.offset + last.destination.size();
}

}  // namespace

UnpackingSource::UnpackingSource(std::unique_ptr<source::Source> inner, CompressedObjects packed,
                                 UnpackingOptions options)
    : packed_(std::move(packed)),
      options_(std::move(options)),
      inner_(std::move(inner)),
      slots_(std::max<std::size_t>(1, inner_->slots_free())) {}

Result<std::vector<source::ObjectInfo>> UnpackingSource::list(const std::string& url) {
  return inner_->list(url);
}

Result<std::vector<source::ObjectInfo>> UnpackingSource::list_all(
    const std::vector<std::string>& urls) {
  return inner_->list_all(urls);
}

Status UnpackingSource::put(const std::string& url, const std::string& bytes) {
  return inner_->put(url, bytes);
}

void UnpackingSource::submit(source::ReadRequest request) {
  in_flight_.fetch_add(1, std::memory_order_relaxed);
  waiting_.push_back(std::move(request));
}

void UnpackingSource::wake() {
  woken_.store(true, std::memory_order_release);
  inner_->wake();
}

// Pieces in flight are nobody's requests.
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
    if (done.size() > before || woken_.exchange(false, std::memory_order_acquire)) break;
    // A piece that has landed is unpacked without waiting for others.
    const bool landed = std::any_of(files_.begin(), files_.end(), [this](const auto& file) {
      return is_wanted(*file) && file->has_landed();
    });
    inner_->poll(landed ? monotonic_ns() : deadline_ns, inner_done_);
    take_landed(done);
    unpack_landed(done);
    if (monotonic_ns() >= deadline_ns) {
      serve(done);
      break;
    }
  }
  in_flight_.fetch_sub(done.size() - before, std::memory_order_relaxed);
}

// Answers what can be answered, and starts what is asked for.
void UnpackingSource::serve(std::vector<source::ReadResult>& done) {
  for (auto request = waiting_.begin(); request != waiting_.end();) {
    request = ready(*request, done) ? waiting_.erase(request) : request + 1;
  }
}

bool UnpackingSource::ready(const source::ReadRequest& request,
                            std::vector<source::ReadResult>& done) {
  if (!packed_.contains(request.object.url)) {
    if (inner_->slots_free() == 0) return false;
    source::ReadRequest inner = request;
    inner.tag = next_id_++;
    pending_[inner.tag] = {nullptr, nullptr, request.tag};
    ++passing_;
    inner_->submit(std::move(inner));
    return true;
  }
  const auto found = by_url_.find(request.object.url);
  if (found == by_url_.end()) {
    Status status = start(request);
    if (status.ok()) return false;
    done.push_back({request.tag, std::move(status)});
    return true;
  }
  files_.splice(files_.begin(), files_, found->second);
  const UnpackedFile& file = **found->second;
  if (file.unpacked() < std::min(end_of(request), file.bytes())) return false;
  Status status;
  for (const source::Segment& segment : request.segments) {
    if (status.ok()) status = file.read(segment.offset, segment.destination);
  }
  done.push_back({request.tag, std::move(status)});
  return true;
}

bool UnpackingSource::is_wanted(const UnpackedFile& file) const {
  return std::any_of(waiting_.begin(), waiting_.end(), [&file](const source::ReadRequest& request) {
    return request.object.url == file.object().url;
  });
}

// Drops what nobody waits for until `bytes` more fit.
bool UnpackingSource::make_room(std::uint64_t bytes) {
  for (auto file = files_.end();
       kept_bytes_ + bytes > options_.bytes_max && file != files_.begin();) {
    --file;
    if (is_wanted(**file) || (*file)->reading() > 0) continue;
    kept_bytes_ -= (*file)->bytes();
    by_url_.erase((*file)->object().url);
    file = files_.erase(file);
  }
  return kept_bytes_ + bytes <= options_.bytes_max;
}

// Begins to unpack the object of a request, or leaves it waiting for room.
Status UnpackingSource::start(const source::ReadRequest& request) {
  const std::uint64_t bytes = packed_.at(request.object.url);
  if (bytes > options_.bytes_max) {
    return Status(Code::kResourceExhausted,
                  fmt::format("{} unpacks to {} bytes, more than read.unpack allows ({}): raise it",
                              request.object.url, bytes, options_.bytes_max));
  }
  const auto in_work = std::count_if(files_.begin(), files_.end(), [this](const auto& file) {
    return !file->complete() && is_wanted(*file);
  });
  if (static_cast<std::size_t>(in_work) >= kAtOnce || !make_room(bytes)) return {};
  ECHOLINE_ASSIGN(auto file, UnpackedFile::create(options_.folder, request.object, bytes));
  kept_bytes_ += bytes;
  files_.push_front(std::move(file));
  by_url_[request.object.url] = files_.begin();
  return {};
}

// Only objects that somebody waits for are read on.
void UnpackingSource::read_pieces() {
  for (const auto& file : files_) {
    if (file->complete() || !is_wanted(*file)) continue;
    while (inner_->slots_free() > 0) {
      UnpackedFile::Piece* piece = file->next_piece();
      if (piece == nullptr) break;
      source::ReadRequest request;
      request.tag = next_id_++;
      request.object = file->object();
      request.segments.push_back({piece->offset, piece->bytes});
      pending_[request.tag] = {file.get(), piece, 0};
      inner_->submit(std::move(request));
    }
  }
}

void UnpackingSource::take_landed(std::vector<source::ReadResult>& done) {
  for (source::ReadResult& result : inner_done_) {
    const auto found = pending_.find(result.tag);
    const Pending pending = found->second;
    pending_.erase(found);
    if (pending.file == nullptr) {
      --passing_;
      done.push_back({pending.tag, std::move(result.status)});
      continue;
    }
    pending.piece->landed = true;
    if (!result.status.ok()) fail(*pending.file, result.status, done);
  }
  inner_done_.clear();
  std::erase_if(dropped_, [](const auto& file) { return file->reading() == 0; });
}

void UnpackingSource::unpack_landed(std::vector<source::ReadResult>& done) {
  std::vector<std::pair<const UnpackedFile*, Status>> failed;
  for (const auto& file : files_) {
    const Result<bool> advanced = file->advance();
    if (!advanced.ok()) {
      failed.emplace_back(file.get(), advanced.status().with_context(file->object().url));
    } else if (*advanced && file->complete()) {
      damaged_.erase(file->object().url);
    }
  }
  for (const auto& [file, status] : failed) {
    if (!read_again(*file, status)) fail(*file, status, done);
  }
}

// Whether bytes that cannot be the object's are read once more: its version is pinned, so they may
// have changed on the way only.
bool UnpackingSource::read_again(const UnpackedFile& file, const Status& status) {
  const bool damaged =
      status.code() == Code::kDataLoss || status.code() == Code::kFailedPrecondition;
  if (!damaged || ++damaged_[file.object().url] >= kAnswersMax) return false;
  log_warning("record", "{}; reading it anew", status.message());
  restarts_.fetch_add(1, std::memory_order_relaxed);
  drop(file);
  return true;
}

void UnpackingSource::forget(const source::ObjectInfo& object) {
  const auto found = by_url_.find(object.url);
  if (found != by_url_.end()) drop(**found->second);
}

// Everybody who waits for the object hears why it does not come; the next request begins anew.
void UnpackingSource::fail(const UnpackedFile& file, const Status& status,
                           std::vector<source::ReadResult>& done) {
  const auto found = by_url_.find(file.object().url);
  if (found == by_url_.end() || found->second->get() != &file) return;  // has failed before
  std::erase_if(waiting_, [&](const source::ReadRequest& request) {
    if (request.object.url != file.object().url) return false;
    done.push_back({request.tag, status});
    return true;
  });
  damaged_.erase(file.object().url);
  drop(file);
}

void UnpackingSource::drop(const UnpackedFile& file) {
  const auto found = by_url_.find(file.object().url);
  const Files::iterator place = found->second;
  kept_bytes_ -= file.bytes();
  by_url_.erase(found);
  if (file.reading() > 0) {
    dropped_.splice(dropped_.begin(), files_, place);
  } else {
    files_.erase(place);
  }
}

}  // namespace echoline::record
