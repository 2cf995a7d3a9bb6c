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

void RowTimer::count(std::uint64_t spent_ns, bool first_use, StepAccount& account,
                     std::uint64_t rows) {
  sampler_.note(spent_ns, rows);
  if (!runs_) return;
  end();
  if (is_timed_) account.add(sampler_.times, {sampler_.take_rows(), rows, first_use});
}

void RowTimer::end() {
  runs_ = false;
  sampler_.times.end();
  if (!rows_.empty()) add_to_trace();
}

void RowTimer::add_to_trace() const {
  const StepTimes& times = sampler_.times;
  const auto worker = static_cast<std::uint32_t>(worker_);
  std::vector<trace::Span> spans;
  spans.reserve(rows_.size() + times.stays().size());
  const std::uint64_t end_ns = times.begin_ns() + times.wall_ns();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto& [values, begin_ns, made] = rows_[i];
    spans.push_back({.kind = trace::Kind::kRow,
                     .group = trace::Group::kWorkers,
                     .track = worker,
                     .begin_ns = i == 0 ? times.begin_ns() : begin_ns,
                     .end_ns = i + 1 == rows_.size() ? end_ns : rows_[i + 1].begin_ns,
                     .values = {values[0], values[1], values[2], values[3], values[4], made}});
  }
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
