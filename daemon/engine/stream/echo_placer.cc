#include "engine/stream/echo_placer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/pluralize.h"
#include "config/echo_places.h"
#include "config/pipeline.h"
#include "config/values.h"
#include "engine/open/echo_place.h"
#include "engine/open/kept_echo_place.h"
#include "engine/stream/pass_builder.h"

namespace echoline::engine {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
// Some of them are timed in full, as in every pass (batch/step_sampler.h). A slow store gets more
// time, and then fewer records have to do.
constexpr std::uint64_t kRecords = 256;
constexpr std::uint64_t kRecordsOfSlowStore = 16;
constexpr std::uint64_t kLeastNs = kSecondNs;
constexpr std::uint64_t kSlowNs = 5 * kSecondNs;
constexpr std::uint64_t kMostNs = 60 * kSecondNs;
constexpr std::chrono::milliseconds kPoll{5};

// The first failure that a stream reports while it has no owner. Any thread.
class FirstFailure {
 public:
  void set(const Status& status) {
    const MutexLock lock(mutex_);
    if (status_.ok()) status_ = status;
  }
  Status get() const {
    const MutexLock lock(mutex_);
    return status_;
  }

 private:
  mutable Mutex mutex_;
  Status status_ ECHOLINE_GUARDED_BY(mutex_);
};

// A stream that is opened for a measurement only.
class TrialOpening {
 public:
  TrialOpening(const std::string& name, const OpenOptions& options, WorkerPool& pool,
               MemoryBudget& budget, const record::ProgressFunction& progress)
      : name_(name), options_(options), pool_(pool), budget_(budget), progress_(progress) {}
  TrialOpening(const TrialOpening&) = delete;
  ~TrialOpening() { close(); }

  Status open(const v1::Stream& stream) {
    close();
    ECHOLINE_ASSIGN(
        opened_, open_stream(name_, stream, options_, pool_, budget_, progress_,
                             [failure = failure_](const Status& status) { failure->set(status); }));
    return {};
  }

  // Prepares records of one epoch after the other, because a ring without readers takes only as
  // many as it has slots. With a very slow store it ends with too few of them to measure the steps.
  Status run() {
    const std::uint64_t begin_ns = monotonic_ns();
    for (std::uint32_t epoch = 0;; ++epoch) {
      ECHOLINE_ASSIGN(
          const BuiltPass built,
          build_pass(opened_.core, budget_,
                     {.start = {.epoch = epoch}, .history = OrderHistory(*opened_.core->plan)}));
      while (!built.pass().hold_up().by_readers()) {
        ECHOLINE_ASSIGN(const bool done, is_done(monotonic_ns() - begin_ns));
        if (done) return {};
        std::this_thread::sleep_for(kPoll);
      }
      ECHOLINE_ASSIGN(const bool done, is_done(monotonic_ns() - begin_ns));
      if (done) return {};
    }
  }

  std::uint64_t prepared() const { return opened_.core->counters->prepare_first_rows.load(); }
  bool has_measured() const { return prepared() >= kRecordsOfSlowStore; }

  RecordTimes times(const v1::Stream& stream) const {
    const FetchCounters fetched = opened_.core->fetchers->counters();
    const double fetch_seconds = 1e-9 * static_cast<double>(fetched.busy_ns) /
                                 static_cast<double>(std::max<std::uint64_t>(1, fetched.records));
    return record_times(stream, fetch_seconds, opened_.core->counters->steps.totals().steps,
                        pool_.worker_count());
  }

  // What a pass needs so that each use finds its record in the form that is reused.
  std::uint64_t wanted_bytes() const {
    const StreamCore& core = *opened_.core;
    return ring::ring_bytes(core.ring_spec) + core.read_ahead.most_bytes + core.window_floor_bytes +
           core.window_wish_bytes;
  }

 private:
  Result<bool> is_done(std::uint64_t passed_ns) const {
    ECHOLINE_TRY(failure_->get());
    if (progress_) ECHOLINE_TRY(progress_({}));
    const std::uint64_t records = prepared();
    if (passed_ns >= kLeastNs && records >= kRecords) return true;
    if (passed_ns >= kSlowNs && records >= kRecordsOfSlowStore) return true;
    return passed_ns >= kMostNs;
  }

  void close() {
    // Its thread may be the last owner of the core and cannot join itself.
    if (opened_.core != nullptr) opened_.core->fetchers->stop();
    opened_ = {};
  }

  const std::string& name_;
  const OpenOptions& options_;
  WorkerPool& pool_;
  MemoryBudget& budget_;
  const record::ProgressFunction& progress_;
  const std::shared_ptr<FirstFailure> failure_ = std::make_shared<FirstFailure>();
  OpenedStream opened_;
};

// Directly after decoding, where records are decoded whole, as for any place behind it: without an
// echo, only the part that the first crop needs is decoded. With two uses, since a sample of which
// there is only one is not kept.
v1::Stream measured(const v1::Stream& definition) {
  v1::Stream stream = config::with_echo_at(definition, config::place_after_decode(definition));
  for (v1::Step& step : *stream.mutable_pipeline()) {
    if (!step.has_echo()) continue;
    step.mutable_echo()->set_factor(std::min(2000U, config::echo_factor_max(stream)));
  }
  return stream;
}

Result<ChosenPlace> choose(const v1::Stream& definition, TrialOpening& opening,
                           MemoryBudget& budget) {
  ECHOLINE_TRY(opening.open(measured(definition)));
  ECHOLINE_TRY(opening.run());
  if (!opening.has_measured()) {
    const int first = config::echo_places(definition).front();
    return ChosenPlace{first,
                       fmt::format("{}: fetching is the slowest part, {} arrived in {} s",
                                   config::place_text(definition, first),
                                   pluralize(opening.prepared(), "record"), kMostNs / kSecondNs)};
  }
  const RecordTimes times = opening.times(definition);
  const std::uint32_t uses = config::echo_factor_max(
      config::with_echo_at(definition, config::echo_places(definition).front()));
  const std::vector<PlaceRatio> wanted =
      wanted_places(place_ratios(definition, times), uses / 1000.0);
  const auto text = [&](const PlaceRatio& at) {
    return fmt::format(
        "{}: {} is the slowest part without trainers, and R is {:.2f} here "
        "(at most {} uses are wanted)",
        config::place_text(definition, at.place), slowest_text(definition, times), at.ratio,
        config::format_thousandths(uses));
  };
  std::string without;
  for (const PlaceRatio& one : wanted) {
    ECHOLINE_TRY(opening.open(config::with_echo_at(definition, one.place)));
    const std::uint64_t free_bytes = budget.budget_bytes() - budget.reserved_bytes();
    if (opening.wanted_bytes() <= free_bytes) return ChosenPlace{one.place, text(one) + without};
    without += fmt::format(
        "; not {}, where the stream would take {} of {}", config::place_text(definition, one.place),
        config::format_bytes(opening.wanted_bytes()), config::format_bytes(free_bytes));
  }
  // There, too, it works: what does not fit stays encoded.
  return ChosenPlace{wanted.front().place, text(wanted.front()) +
                                               "; no place has a window that "
                                               "fits into daemon.memory"};
}

}  // namespace

Result<PlacedStream> place_echo(const std::string& name, const v1::Stream& definition,
                                const OpenOptions& options, WorkerPool& pool, MemoryBudget& budget,
                                const record::ProgressFunction& progress) {
  PlacedStream placed{definition, ""};
  if (!config::leaves_echo_place(definition)) return placed;
  if (options.serves && config::prepare_step(definition) != nullptr) {
    // A preparation server makes what comes before any echo.
    placed.stream.clear_echo();
    return placed;
  }
  const KeptEchoPlace kept(options.state_dir, name);
  std::optional<ChosenPlace> chosen = kept.load(definition);
  if (!chosen.has_value()) {
    log_info({"engine", name}, "measuring the steps to find a place for 'echo'");
    TrialOpening opening(name, options, pool, budget, progress);
    ECHOLINE_ASSIGN(chosen, choose(definition, opening, budget));
    kept.save(definition, *chosen);
  }
  log_info({"engine", name}, "echo is {}", chosen->why);
  return PlacedStream{config::with_echo_at(definition, chosen->place), chosen->why};
}

}  // namespace echoline::engine
