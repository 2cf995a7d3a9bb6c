#include "engine/pass/pass_trace.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/clock.h"

namespace echoline::engine {
namespace {

using trace::Group;
using trace::Kind;

// What the thread waits for, by WaitCause.
constexpr std::array<const char*, 5> kCauses = {"bytes", "rows", "plan", "slots", "daemon"};

}  // namespace

void PassTrace::add_wait(WaitCause cause, std::uint64_t begin_ns) const {
  recorder_.add({.kind = Kind::kWait,
                 .group = Group::kPasses,
                 .track = number_,
                 .begin_ns = begin_ns,
                 .end_ns = monotonic_ns(),
                 .cause = kCauses.at(static_cast<std::size_t>(cause))});
}

trace::Span PassTrace::span_of(const InFlightBatch& batch, std::uint64_t first_record,
                               std::uint64_t end_ns) const {
  const shm::Descriptor& descriptor = batch.descriptor;
  return {.kind = Kind::kBatch,
          .group = Group::kSlots,
          .track = trace::slot_track(number_, batch.number % lanes_),
          .begin_ns = batch.begin_ns,
          .end_ns = end_ns,
          .values = {batch.number, descriptor.epoch, descriptor.step, descriptor.row,
                     descriptor.valid_rows, descriptor.fresh_rows, first_record, descriptor.slot}};
}

void PassTrace::add_published(const InFlightBatch& batch, std::uint64_t first_record,
                              std::uint64_t publish_begin_ns) const {
  const std::uint64_t end_ns = monotonic_ns();
  // The whole before its parts, which begin or end with it.
  std::vector<trace::Span> spans = {span_of(batch, first_record, end_ns)};
  const std::uint64_t bytes_ns = batch.bytes_ns.load(std::memory_order_relaxed);
  const std::uint64_t made_ns = batch.made_ns.load(std::memory_order_relaxed);
  // Unknown of a batch that got so far before the trace began, and of one without rows of its own.
  if (bytes_ns != 0 && made_ns != 0) {
    trace::Span part = spans.front();
    part.values = {batch.number};
    const auto add = [&](Kind kind, std::uint64_t until_ns) {
      part.kind = kind;
      part.end_ns = std::clamp(until_ns, part.begin_ns, end_ns);
      spans.push_back(part);
      part.begin_ns = part.end_ns;
    };
    add(Kind::kBatchBytes, bytes_ns);
    add(Kind::kBatchRows, made_ns);
    add(Kind::kBatchTurn, end_ns);
  }
  spans.push_back({.kind = Kind::kPublish,
                   .group = Group::kPasses,
                   .track = number_,
                   .begin_ns = publish_begin_ns,
                   .end_ns = end_ns,
                   .values = {batch.number}});
  recorder_.add(spans);
}

void PassTrace::add_unfinished(const InFlightBatch& batch) const {
  recorder_.add(span_of(batch, trace::kUnknown, monotonic_ns()));
}

}  // namespace echoline::engine
