// A request can be for gathered and other records at once: each gathered one is read by itself.
#include "record/index/gathering_source.h"

#include <utility>

#include "base/clock.h"

namespace echoline::record {

GatheringSource::GatheringSource(std::unique_ptr<source::Source> inner,
                                 std::shared_ptr<const GatheredParts> parts)
    : ForwardingSource(std::move(inner)), parts_(std::move(parts)) {}

std::size_t GatheringSource::slots_free() const {
  const std::size_t free = inner_->slots_free();
  return free > waiting_.size() ? free - waiting_.size() : 0;
}

void GatheringSource::submit(source::ReadRequest request) {
  auto caller = std::make_shared<Caller>();
  caller->result.tag = request.tag;
  caller->result.checked = true;
  std::vector<source::ReadRequest> reads;
  std::vector<source::Segment> plain;
  for (source::Segment segment : request.segments) {
    const auto parts = parts_->parts_at(request.object.url, segment.offset);
    if (parts.empty()) plain.push_back(segment);
    for (const ByteRange& part : parts) {
      reads.push_back({0, request.object, {{part.offset, segment.destination.first(part.bytes)}}});
      segment.destination = segment.destination.subspan(part.bytes);
    }
  }
  if (!plain.empty() || reads.empty()) reads.push_back({0, request.object, std::move(plain)});
  caller->reads_left = reads.size();
  for (source::ReadRequest& read : reads) {
    read.tag = next_tag_++;
    reads_[read.tag] = caller;
    waiting_.push_back(std::move(read));
  }
  submit_waiting();
}

void GatheringSource::submit_waiting() {
  while (!waiting_.empty() && inner_->slots_free() > 0) {
    inner_->submit(std::move(waiting_.front()));
    waiting_.pop_front();
  }
}

void GatheringSource::wake() {
  woken_.store(true, std::memory_order_release);
  inner_->wake();
}

void GatheringSource::poll(std::uint64_t deadline_ns, std::vector<source::ReadResult>& done) {
  const std::size_t before = done.size();
  while (true) {
    submit_waiting();
    inner_->poll(deadline_ns, inner_done_);
    take_landed(done);
    const bool woken = woken_.exchange(false, std::memory_order_acquire);
    if (done.size() > before || woken || monotonic_ns() >= deadline_ns) break;
  }
  submit_waiting();
}

void GatheringSource::take_landed(std::vector<source::ReadResult>& done) {
  for (source::ReadResult& result : inner_done_) {
    const auto read = reads_.find(result.tag);
    const std::shared_ptr<Caller> caller = std::move(read->second);
    reads_.erase(read);
    if (!result.status.ok() && caller->result.status.ok()) {
      caller->result.status = std::move(result.status);
    }
    caller->result.checked = caller->result.checked && result.checked;
    if (--caller->reads_left == 0) done.push_back(std::move(caller->result));
  }
  inner_done_.clear();
}

}  // namespace echoline::record
