#include "engine/pass/row_timer.h"

#include <string>
#include <vector>

namespace echoline::engine {

RowTimer::RowTimer(batch::StepSampler& sampler, trace::Recorder& recorder, std::size_t worker)
    : sampler_(sampler),
      recorder_(recorder),
      worker_(worker),
      is_timed_(sampler.begins_timed()),
      is_traced_(recorder.on()),
      runs_(is_timed_ || is_traced_) {
  static const std::string kOther = "other";
  if (runs_) sampler_.times.begin(kOther, is_traced_);
}

void RowTimer::count(std::uint64_t spent_ns, bool first_use, StepAccount& account) {
  sampler_.note(spent_ns);
  if (!runs_) return;
  end(true);
  if (is_timed_) account.add(sampler_.times, sampler_.take_rows(), first_use);
}

void RowTimer::end(bool made) {
  runs_ = false;
  sampler_.times.end();
  if (is_traced_ && is_noted_) add_to_trace(made);
}

void RowTimer::add_to_trace(bool made) const {
  const StepTimes& times = sampler_.times;
  const auto worker = static_cast<std::uint32_t>(worker_);
  std::vector<trace::Span> spans;
  spans.reserve(1 + times.stays().size());
  spans.push_back({.kind = trace::Kind::kRow,
                   .group = trace::Group::kWorkers,
                   .track = worker,
                   .begin_ns = times.begin_ns(),
                   .end_ns = times.begin_ns() + times.wall_ns(),
                   .values = {row_[0], row_[1], row_[2], row_[3], row_[4], made}});
  for (const StepTimes::Stay& stay : times.stays()) {
    spans.push_back({.kind = trace::Kind::kStep,
                     .group = trace::Group::kWorkers,
                     .track = worker,
                     .begin_ns = stay.begin_ns,
                     .end_ns = stay.end_ns,
                     .step = stay.step});
  }
  // At once: one lock for each row.
  recorder_.add(spans);
}

}  // namespace echoline::engine
