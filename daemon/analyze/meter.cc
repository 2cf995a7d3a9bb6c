#include "analyze/meter.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>
#include <vector>

#include "config/names.h"

namespace echoline::analyze {
namespace {

// Fewer records or rows in the interval say little: then all since the stream's creation count.
constexpr std::uint64_t kEnough = 50;
// Factors that differ by less are equal: a share of one.
constexpr double kSameFactor = 0.05;
// A trainer may attach just now.
constexpr std::uint64_t kAnswersWithoutTrainer = 3;
// Of a core that copies a row, for which nothing was measured: about the rate of memory.
constexpr double kCopyBytesPerSecond = 4e9;

// Waits for the daemon. To wait for a slower job or rank is the trainers' own affair.
double waited(const v1::Consumer& trainer) {
  double seconds = 0;
  for (const auto& [cause, part] : trainer.wait_seconds_by_cause()) {
    if (cause != "peer") seconds += part;
  }
  return seconds;
}

// As the daemon says it.
Status unknown_stream(const std::string& name, const v1::WatchStatsResponse& answer) {
  std::vector<std::string> known;
  for (const v1::StreamStatus& stream : answer.streams()) known.push_back(stream.name());
  return {Code::kNotFound, fmt::format("no stream '{}'; there are: {}", name,
                                       known.empty() ? "none" : config::join_names(known))};
}

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

Place place_of(const std::string& name) {
  const auto* found = std::find(std::begin(kPlaceNames), std::end(kPlaceNames), name);
  return found == std::end(kPlaceNames) ? Place::kNone
                                        : static_cast<Place>(found - std::begin(kPlaceNames));
}

v1::Preparation minus(v1::Preparation later, const v1::Preparation& earlier) {
  later.set_first_rows(later.first_rows() - earlier.first_rows());
  later.set_first_seconds(later.first_seconds() - earlier.first_seconds());
  later.set_again_rows(later.again_rows() - earlier.again_rows());
  later.set_again_seconds(later.again_seconds() - earlier.again_seconds());
  later.set_timed_seconds(later.timed_seconds() - earlier.timed_seconds());
  later.set_timed_cpu_seconds(later.timed_cpu_seconds() - earlier.timed_cpu_seconds());
  return later;
}

v1::Fetching minus(v1::Fetching later, const v1::Fetching& earlier) {
  later.set_records(later.records() - earlier.records());
  later.set_store_records(later.store_records() - earlier.store_records());
  later.set_store_seconds(later.store_seconds() - earlier.store_seconds());
  later.set_cache_seconds(later.cache_seconds() - earlier.cache_seconds());
  return later;
}

double bytes_of_row(const v1::StreamStatus& stream) {
  double bytes = 0;
  for (const v1::Field& field : stream.fields()) {
    double size = field.dtype().ends_with("8")    ? 1
                  : field.dtype().ends_with("16") ? 2
                  : field.dtype().ends_with("64") ? 8
                                                  : 4;
    for (const std::int64_t length : field.shape()) size *= static_cast<double>(length);
    bytes += size;
  }
  return bytes;
}

// Latencies and the number of requests in flight; none are known without enough requests, or of a
// store that counts no time to the first byte.
StoreRequests measure_requests(const v1::StreamStatus& first, const v1::StreamStatus& last,
                               std::uint32_t passes) {
  const auto count = [](const v1::Source& source) {
    const auto& counts = source.latency().counts();
    return static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
  };
  const v1::Source& before = first.source();
  const v1::Source& after = last.source();
  const double requests = count(after) - count(before);
  const double answers = after.answer_seconds() - before.answer_seconds();
  const double busy = last.fetching().store_seconds() - first.fetching().store_seconds();
  if (requests < kRequestsMin || answers <= 0 || busy <= 0) return {};
  const double all = after.latency().sum_seconds() - before.latency().sum_seconds();
  const double bytes = static_cast<double>(after.bytes() - before.bytes()) / requests;
  const double ahead =
      static_cast<double>(after.read_ahead_bytes()) * passes / std::max(1.0, bytes);
  return {.answer_seconds = answers / requests,
          .body_seconds = std::max(0.0, all - answers) / requests,
          .in_flight = all / busy,
          .in_flight_max = std::min(static_cast<double>(after.concurrency()), ahead)};
}

std::vector<StoreRates> store_rates(const v1::Source& source) {
  std::vector<StoreRates> all;
  for (const v1::EndpointRates& rates : source.rates()) {
    StoreRates& one = all.emplace_back();
    one.endpoint = rates.endpoint();
    one.short_answers = rates.short_answers();
    for (const v1::RatePoint& point : rates.points()) {
      one.points.push_back({.in_flight = point.in_flight(),
                            .bytes_per_second = point.bytes_per_second(),
                            .answer_bytes = point.answer_bytes(),
                            .windows = point.windows(),
                            .age_seconds = point.age_seconds()});
    }
  }
  return all;
}

// Uses per record of the rows that were published. They differ from the factor that is set after a
// change, until the read-ahead is used up, and where the daemon changes it by itself.
double served_factor(const v1::StreamStatus& first, const v1::StreamStatus& last,
                     double set_factor) {
  const std::uint64_t fresh = last.samples_fresh() - first.samples_fresh();
  const std::uint64_t echoed = last.samples_echoed() - first.samples_echoed();
  if (fresh < kEnough) return set_factor;
  const double served = 1 + ratio(static_cast<double>(echoed), static_cast<double>(fresh));
  // First and further uses of a record are in different batches, so the share varies a little.
  return std::abs(served / set_factor - 1) < kSameFactor ? set_factor : served;
}

// The step of a data set in Python. Other formats are read by threads of their own.
constexpr std::string_view kDataSetStep = "read";

// What the workers spend on a row, in seconds of a core. The costs of steps are those since the
// stream's creation: one row in 64 is timed, which are too few in most intervals.
void measure_workers(const v1::StreamStatus& first, const v1::StreamStatus& last,
                     Measures& measures) {
  v1::Preparation made = minus(last.preparation(), first.preparation());
  if (made.first_rows() < kEnough) made = last.preparation();
  const double share =
      ratio(last.preparation().timed_cpu_seconds(), last.preparation().timed_seconds());
  const double recent = ratio(made.timed_cpu_seconds(), made.timed_seconds());
  measures.core_share = std::clamp(recent > 0 ? recent : share > 0 ? share : 1.0, 0.05, 1.0);
  double all = 0, decode = 0;
  for (const v1::StepCost& step : last.steps()) {
    measures.steps.push_back(
        {step.step(), ratio(step.seconds(), static_cast<double>(step.rows())), step.seconds()});
    if (step.step() != "reuse") all += step.seconds();
    const bool is_data_set = step.step() == kDataSetStep;
    measures.has_data_set |= is_data_set;
    measures.calls_code |= is_data_set || step.step() == "python" || step.step() == "plugin";
    const bool decodes = step.step().starts_with("decode ") || step.step() == "keep";
    if (decodes || is_data_set) decode += step.seconds();
  }
  for (StepTime& step : measures.steps) step.share = ratio(step.share, all);
  const double first_row = ratio(made.first_seconds(), static_cast<double>(made.first_rows()));
  const double again_row = ratio(made.again_seconds(), static_cast<double>(made.again_rows()));
  const bool remakes = measures.place == Place::kSample && made.again_rows() > 0;
  const double use =
      remakes ? std::min(again_row, first_row) : first_row * (1 - ratio(decode, all));
  const bool copies = measures.place == Place::kAugmented && made.again_rows() > 0;
  const double own = measures.calls_code ? 1 : measures.core_share;
  measures.use_seconds = use * own;
  measures.decode_seconds = (first_row - use) * own;
  measures.copy_seconds = copies ? again_row * own : bytes_of_row(last) / kCopyBytesPerSecond;
}

void measure_fetch(const v1::StreamStatus& first, const v1::StreamStatus& last,
                   Measures& measures) {
  v1::Fetching fetched = minus(last.fetching(), first.fetching());
  if (fetched.records() < kEnough) fetched = last.fetching();
  const double cached =
      static_cast<double>(fetched.records() - std::min(fetched.records(), fetched.store_records()));
  // Records that are read ahead are in the caches, too, so only a stream with caches has hits.
  if (last.caches_size() > 0)
    measures.cached = ratio(cached, static_cast<double>(fetched.records()));
  // Memory answers at once: its time is not seen.
  if (cached > 0 && fetched.cache_seconds() > 0.01 * measures.seconds)
    measures.cache_records = cached / fetched.cache_seconds();
  if (fetched.store_records() < kEnough) fetched = last.fetching();
  measures.store_records =
      ratio(static_cast<double>(fetched.store_records()), fetched.store_seconds());
}

// Another training with the same name has counters of its own, and so has one in another pass.
bool continues(const v1::Consumer& before, const v1::Consumer& now) {
  return now.batch_size() == before.batch_size() && now.world_size() == before.world_size() &&
         now.pass() == before.pass() && now.batches() >= before.batches();
}

std::uint64_t samples(const v1::StreamStatus& stream) {
  return stream.samples_fresh() + stream.samples_echoed();
}

}  // namespace

Status Meter::add(const v1::WatchStatsResponse& answer) {
  const auto found =
      std::find_if(answer.streams().begin(), answer.streams().end(),
                   [this](const v1::StreamStatus& one) { return one.name() == stream_; });
  if (found == answer.streams().end()) return unknown_stream(stream_, answer);
  if (found->state() != "ready")
    return {Code::kFailedPrecondition,
            fmt::format("stream '{}' is {}: {}", stream_, found->state(), found->verdict().text())};
  if (last_ && samples(*found) < samples(*last_))
    return {Code::kFailedPrecondition,
            fmt::format("stream '{}' was created again during the measurement", stream_)};
  const double seconds = static_cast<double>(answer.monotonic_ns()) * 1e-9;
  if (!first_) {
    first_ = *found;
    begin_seconds_ = seconds;
  }
  last_ = *found;
  end_seconds_ = seconds;
  daemon_ = answer.daemon();
  ++answers_;
  for (const v1::Consumer& consumer : found->consumers()) see(consumer, seconds);
  return {};
}

Status Meter::attended() const {
  if (answers_ < kAnswersWithoutTrainer || !trainers_.empty()) return {};
  return {
      Code::kFailedPrecondition,
      fmt::format("no trainer of stream '{}' is attached: start one, or measure the stream of a "
                  "configuration with --config",
                  stream_)};
}

// The interval of a trainer is from one release to another one, so that no part of a step counts.
void Meter::see(const v1::Consumer& consumer, double seconds) {
  Trainer& trainer = trainers_[{consumer.job(), consumer.rank()}];
  if (!continues(trainer.look, consumer)) {
    trainer = {};
  } else if (consumer.batches() > trainer.look.batches()) {
    if (trainer.first.seconds == 0) trainer.first = {seconds, consumer};
    trainer.last = {seconds, consumer};
  }
  trainer.look = consumer;
}

Result<Measures> Meter::measures() const {
  Measures measures;
  // Of each pass: its slowest job; of a job its fastest rank, since the others' time has waits for
  // that one in it, which are not for data.
  std::map<std::uint32_t, std::map<std::string, double>> rates;
  double waits = 0, times = 0;
  for (const auto& [name, trainer] : trainers_) {
    const double seconds = trainer.last.seconds - trainer.first.seconds;
    if (seconds <= 0) continue;
    const v1::Consumer& last = trainer.last.trainer;
    const double wait =
        std::clamp(waited(last) - waited(trainer.first.trainer), 0.0, 0.999 * seconds);
    const std::uint64_t batches = last.batches() - trainer.first.trainer.batches();
    measures.batches = rates.empty() ? batches : std::min(measures.batches, batches);
    double& rate = rates[last.pass()][name.first];
    rate = std::max(rate, static_cast<double>(batches) * last.batch_size() / (seconds - wait));
    waits += wait;
    times += seconds;
  }
  if (rates.empty() || !last_)
    return Status(Code::kFailedPrecondition,
                  fmt::format("no trainer of stream '{}' has taken three batches: start one, or "
                              "measure for longer with --for",
                              stream_));
  for (const auto& [pass, jobs] : rates) {
    double slowest = std::numeric_limits<double>::infinity();
    for (const auto& [job, rate] : jobs) slowest = std::min(slowest, rate);
    measures.trainer_rows += slowest / static_cast<double>(rates.size());
  }
  measures.passes = static_cast<std::uint32_t>(rates.size());
  measures.seconds = end_seconds_ - begin_seconds_;
  measures.stall = ratio(waits, times);
  measures.rows = ratio(static_cast<double>(samples(*last_) - samples(*first_)), measures.seconds);
  measures.workers = daemon_.workers();
  measures.processors = std::max(1U, daemon_.processors());
  measures.records = last_->records();
  measures.record_bytes = last_->record_bytes();
  measures.batch_rows = last_->batch_size();
  measures.place = place_of(last_->echo_point());
  measures.set_factor = std::max(1.0, last_->factor_thousandths() / 1000.0);
  measures.factor = served_factor(*first_, *last_, measures.set_factor);
  measure_workers(*first_, *last_, measures);
  measure_fetch(*first_, *last_, measures);
  measures.requests = measure_requests(*first_, *last_, measures.passes);
  measures.concurrency = last_->source().concurrency();
  measures.store_rates = store_rates(last_->source());
  return measures;
}

}  // namespace echoline::analyze
