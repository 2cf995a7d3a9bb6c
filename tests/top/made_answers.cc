#include "top/made_answers.h"

#include <initializer_list>
#include <string>
#include <utility>

namespace echoline::top {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

void add_stage(v1::StreamStatus& stream, const std::string& name, double busy, double starved,
               double blocked) {
  v1::Stage& stage = *stream.add_stages();
  stage.set_name(name);
  stage.set_busy_seconds(busy);
  stage.set_starved_seconds(starved);
  stage.set_blocked_seconds(blocked);
}

void add_trainer(v1::StreamStatus& stream, const std::string& job, std::uint32_t rank,
                 std::uint64_t step, std::uint64_t lag_rows,
                 std::initializer_list<std::pair<const char*, double>> wait_seconds_by_cause) {
  v1::Consumer& trainer = *stream.add_consumers();
  trainer.set_job(job);
  trainer.set_rank(rank);
  trainer.set_world_size(2);
  trainer.set_batch_size(64);
  trainer.set_epoch(3);
  trainer.set_step(step);
  trainer.set_batches(step);
  trainer.set_lag_rows(lag_rows);
  double sum = 0;
  for (const auto& [cause, seconds] : wait_seconds_by_cause) {
    (*trainer.mutable_wait_seconds_by_cause())[cause] = seconds;
    sum += seconds;
  }
  trainer.set_wait_seconds(sum);
}

void fill_source(v1::Source& source, std::uint64_t requests, std::uint64_t bytes) {
  source.set_scheme("s3");
  source.set_requests_ok(requests);
  source.set_requests_retried(requests / 100);
  source.set_bytes(bytes);
  source.set_in_flight(60);
  source.set_limit(64);
  (*source.mutable_wait_seconds())["throttled"] = static_cast<double>(requests) / 50;
  for (const double bound : {0.01, 0.1, 1.0}) source.mutable_latency()->add_bounds(bound);
  for (const std::uint64_t count : {requests / 2, requests / 2, std::uint64_t{0}, std::uint64_t{0}})
    source.mutable_latency()->add_counts(count);
  source.mutable_latency()->set_sum_seconds(static_cast<double>(requests) * 0.045);
}

void add_cache(v1::StreamStatus& stream, const std::string& level, std::uint64_t hits,
               std::uint64_t misses, std::uint64_t held_bytes) {
  v1::CacheLevel& cache = *stream.add_caches();
  cache.set_level(level);
  cache.set_hits(hits);
  cache.set_misses(misses);
  cache.set_held_bytes(held_bytes);
}

v1::StreamStatus& add_stream(v1::WatchStatsResponse& answer, const std::string& name) {
  v1::StreamStatus& stream = *answer.add_streams();
  stream.set_name(name);
  stream.set_state("ready");
  stream.set_batches_per_epoch(5005);
  stream.set_batch_size(256);
  stream.set_factor_thousandths(2500);
  stream.set_echo_point("sample");
  stream.set_memory_bytes(900 * kMiB);
  stream.mutable_slots()->set_free(5);
  stream.mutable_slots()->set_filling(1);
  stream.mutable_slots()->set_published(2);
  return stream;
}

v1::WatchStatsResponse answer_at(std::uint64_t seconds) {
  v1::WatchStatsResponse answer;
  answer.mutable_time()->set_seconds(static_cast<std::int64_t>(1'795'000'000 + seconds));
  answer.set_monotonic_ns((100 + seconds) * 1'000'000'000);
  answer.mutable_daemon()->set_version("0.1.0");
  answer.mutable_daemon()->set_workers(4);
  answer.mutable_daemon()->set_memory_budget_bytes(2048 * kMiB);
  answer.mutable_daemon()->set_memory_reserved_bytes(1280 * kMiB);
  v1::StreamStatus& eval = add_stream(answer, "eval");
  eval.set_echo_point("none");
  eval.set_factor_thousandths(1000);
  eval.mutable_verdict()->set_limit("nobody");
  eval.mutable_verdict()->set_text("no trainer is attached; the first batches wait in the ring");
  return answer;
}

}  // namespace

v1::WatchStatsResponse first_answer() {
  v1::WatchStatsResponse answer = answer_at(0);
  v1::StreamStatus& train = add_stream(answer, "train");
  train.set_samples_fresh(10'000);
  train.set_samples_echoed(15'000);
  train.set_batches(100);
  add_stage(train, "fetch", 10, 20, 70);
  add_stage(train, "prep", 40, 300, 60);
  add_stage(train, "publish", 90, 10, 0);
  add_trainer(train, "default", 0, 10, 0, {{"fetch", 4}, {"peer", 1}});
  add_trainer(train, "default", 1, 10, 0, {{"fetch", 4}, {"peer", 1}});
  fill_source(*train.mutable_source(), 1000, 100 * kMiB);
  add_cache(train, "memory", 100, 900, 200 * kMiB);
  add_cache(train, "disk", 0, 900, 0);
  return answer;
}

v1::WatchStatsResponse second_answer() {
  v1::WatchStatsResponse answer = answer_at(1);
  v1::StreamStatus& train = add_stream(answer, "train");
  train.set_samples_fresh(11'480);
  train.set_samples_echoed(17'220);
  train.set_batches(114);
  train.set_upstream_downstream_ratio(4.2);
  (*train.mutable_records_bad())["corrupt"] = 3;
  train.mutable_verdict()->set_limit("storage");
  train.mutable_verdict()->set_text(
      "storage is the limit, trainers wait for it 43 % of their time; it asks for fewer requests: "
      "raise its limit, or keep records with a cache step");
  add_stage(train, "fetch", 10.7, 20.3, 70);
  add_stage(train, "prep", 41, 303, 60);
  add_stage(train, "publish", 90.5, 10.45, 0.05);
  add_trainer(train, "default", 0, 24, 0, {{"fetch", 4.4}, {"peer", 1.05}});
  add_trainer(train, "default", 1, 24, 0, {{"fetch", 4.45}, {"peer", 1}});
  add_trainer(train, "late", 0, 20, 256, {{"fetch", 0.02}});
  fill_source(*train.mutable_source(), 1480, 223 * kMiB);
  add_cache(train, "memory", 618, 1862, 400 * kMiB);
  add_cache(train, "disk", 250, 1612, 1024 * kMiB);
  return answer;
}

}  // namespace echoline::top
