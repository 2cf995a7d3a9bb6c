#include "engine/stream/trace_session.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/clock.h"
#include "base/shown_address.h"

namespace echoline::engine {
namespace {

using trace::Group;
using trace::Kind;

std::string track_name(Group group, std::uint32_t track,
                       const std::map<std::uint32_t, std::string>& trainers) {
  switch (group) {
    case Group::kTrainers: {
      const auto found = trainers.find(track);
      return found == trainers.end() ? fmt::format("trainer {}", track) : found->second;
    }
    case Group::kSlots:
      return fmt::format("pass {} slot {}", track >> 16, track & 0xffff);
    case Group::kPasses:
      return fmt::format("pass {}", track);
    case Group::kWorkers:
      return fmt::format("worker {}", track);
    case Group::kFetch:
      return fmt::format("fetch {}", track);
    case Group::kCaches:
      return fmt::format("cache {}", track);
    case Group::kReads:
      return fmt::format("read {}", track);
  }
  return {};
}

std::string span_name(const trace::Span& span) {
  if (span.step != nullptr) return *span.step;
  const char* const name = trace::form_of(span.kind).name;
  return span.cause == nullptr ? name : fmt::format("{}: {}", name, span.cause);
}

}  // namespace

Result<std::unique_ptr<Trace>> TraceSession::begin(SharedStreams& shared, const std::string& name,
                                                   std::uint64_t longest_ns) {
  const MutexLock lock(shared.mutex);
  ECHOLINE_ASSIGN(const Stream* stream, shared.table.find(name));
  const std::uint64_t number = stream->core()->recorder->start(monotonic_ns() + longest_ns);
  if (number == 0) {
    return Status(
        Code::kFailedPrecondition,
        fmt::format("stream '{}' is traced already; wait for the end of that trace", name));
  }
  return std::unique_ptr<Trace>(
      new TraceSession(shared, name, shared.table.generation(name), stream->core(), number));
}

std::shared_ptr<StreamCore> TraceSession::present_core() const {
  const MutexLock lock(shared_.mutex);
  const Stream* const stream = shared_.table.get(name_, generation_);
  return stream == nullptr ? nullptr : stream->core();
}

void TraceSession::add_unfinished() {
  const MutexLock lock(shared_.mutex);
  Stream* const stream = shared_.table.get(name_, generation_);
  if (stream == nullptr) return;
  const std::uint64_t now_ns = monotonic_ns();
  stream->meter().trace_unfinished(now_ns);
  for (const std::shared_ptr<Pass>& pass : stream->passes()) {
    if (const auto batch = pass->head()) pass->trace().add_unfinished(*batch);
  }
  const Fetchers& fetchers = *stream->core()->fetchers;
  for (const ReadInFlight& read : fetchers.reads(SIZE_MAX, now_ns).oldest) {
    recorder_->add(span_of(read, /*answered=*/false, /*ok=*/false, now_ns));
  }
}

Result<TracePart> TraceSession::take() {
  const std::shared_ptr<StreamCore> core = present_core();
  if (core == nullptr) {
    return Status(Code::kNotFound,
                  fmt::format("stream '{}' was deleted while it was traced", name_));
  }
  trace::Recorder::Taken taken = recorder_->take(number_);
  trainers_.merge(taken.trainers);
  dropped_ += taken.dropped;
  TracePart part;
  for (const trace::Span& span : taken.spans) {
    if (spans_ >= kSpansMax) {
      ++dropped_;
      continue;
    }
    ++spans_;
    part.spans.push_back(described(*core, span, part));
  }
  part.dropped = dropped_;
  return part;
}

Result<TracePart> TraceSession::finish() {
  add_unfinished();
  Result<TracePart> part = take();
  recorder_->stop(number_);
  return part;
}

TraceSpan TraceSession::described(const StreamCore& core, const trace::Span& span,
                                  TracePart& part) {
  TraceSpan told{.track = track_of(span, part),
                 .name = span_name(span),
                 .begin_ns = span.begin_ns,
                 .end_ns = span.end_ns,
                 .values = {}};
  if (span.place != nullptr) told.values.push_back({.name = "place", .text = span.place});
  const trace::Form& form = trace::form_of(span.kind);
  for (std::size_t i = 0; i < form.values.size() && form.values[i] != nullptr; ++i) {
    if (span.values[i] != trace::kUnknown) told.values.push_back({form.values[i], span.values[i]});
  }
  const record::Index& index = core.data_set->index();
  if (span.kind == Kind::kRead) {
    const auto shard = static_cast<std::uint32_t>(span.values[0]);
    told.values.push_back(
        {.name = "address", .text = shown_address(index.shard(shard).object.url)});
  }
  return told;
}

std::uint32_t TraceSession::track_of(const trace::Span& span, TracePart& part) {
  const std::uint32_t track =
      span.kind == Kind::kRead ? reads_.place(span.begin_ns, span.end_ns) : span.track;
  // 0 is no number: a viewer takes it for the main thread.
  const auto [found, is_new] =
      tracks_.try_emplace({span.group, track}, static_cast<std::uint32_t>(tracks_.size() + 1));
  if (is_new) {
    const auto group = static_cast<std::size_t>(span.group);
    part.tracks.push_back({.number = found->second,
                           .group = static_cast<std::uint32_t>(group),
                           .group_name = trace::kGroupNames.at(group),
                           .name = track_name(span.group, track, trainers_)});
  }
  return found->second;
}

}  // namespace echoline::engine
