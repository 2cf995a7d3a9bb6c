#include "serve/memory_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/clock.h"
#include "config/pipeline.h"

namespace echoline::serve {
namespace {

Status no_stream(const std::string& name) {
  return Status(Code::kNotFound, "no stream '" + name + "'");
}

class MemoryTrace final : public engine::Trace {
 public:
  Result<engine::TracePart> take() override {
    engine::TracePart part;
    if (taken_ == 0) {
      part.tracks.push_back({.number = 1, .group = 1, .group_name = "slots", .name = "slot 0"});
    }
    part.spans.push_back({.track = 1,
                          .name = "batch",
                          .begin_ns = 5000,
                          .end_ns = 6000,
                          .values = {{.name = "batch", .number = taken_++},
                                     {.name = "address", .text = "s3://bucket/key"}}});
    part.dropped = 7;
    return part;
  }
  Result<engine::TracePart> finish() override { return take(); }

 private:
  std::uint64_t taken_ = 0;
};

// Counts a call while it runs.
class CountedCall {
 public:
  CountedCall(std::atomic<int>& count, bool counts) : count_(count), step_(counts ? 1 : 0) {
    count_ += step_;
  }
  ~CountedCall() { count_ -= step_; }
  CountedCall(const CountedCall&) = delete;
  CountedCall& operator=(const CountedCall&) = delete;

 private:
  std::atomic<int>& count_;
  const int step_;
};

}  // namespace

Result<std::unique_ptr<engine::Trace>> MemoryEngine::trace(const std::string& name,
                                                           std::uint64_t /*longest_ns*/) {
  const std::lock_guard lock(mutex_);
  if (!streams_.contains(name)) return no_stream(name);
  return std::unique_ptr<engine::Trace>(std::make_unique<MemoryTrace>());
}

void MemoryEngine::attach(std::uint64_t /*connection*/, const shm::AttachRequest& request,
                          const engine::Peer& /*peer*/, engine::ReplyFunction reply) {
  reply(no_stream(request.stream));
}

void MemoryEngine::withdraw(std::uint64_t /*connection*/) {}

void MemoryEngine::set_notify(engine::NotifyFunction /*notify*/) {}

Status MemoryEngine::announce_stream(const std::string& /*name*/, const v1::Stream& /*stream*/) {
  return Status();
}

Status MemoryEngine::create_stream(const std::string& name, const v1::Stream& stream,
                                   const record::ProgressFunction& progress) {
  const std::string& url = config::read_step(stream).url(0);
  if (url == "missing") {
    return Status(Code::kNotFound, "stream '" + name + "': missing: no such file");
  }
  const CountedCall counted(waiting_calls_, url == "slow");
  for (int i = 0; url == "slow" && i < 40; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (progress) ECHOLINE_TRY(progress({}));
  }
  if (progress) ECHOLINE_TRY(progress({}));
  const std::lock_guard lock(mutex_);
  if (streams_.contains(name)) {
    const bool same = streams_[name].SerializeAsString() == stream.SerializeAsString();
    return same ? Status() : Status(Code::kAlreadyExists, "stream '" + name + "' exists");
  }
  streams_[name] = stream;
  engine::StreamStats stats;
  stats.name = name;
  stats.state = "ready";
  stats.source_scheme = "file";
  stats_.streams.push_back(stats);
  return Status();
}

Status MemoryEngine::delete_stream(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (streams_.erase(name) == 0) return no_stream(name);
  std::erase_if(stats_.streams, [&name](const auto& stream) { return stream.name == name; });
  return Status();
}

Result<bool> MemoryEngine::drain_stream(const std::string& name, std::chrono::milliseconds patience,
                                        const std::function<bool()>& cancelled) {
  {
    const std::lock_guard lock(mutex_);
    if (!streams_.contains(name)) return no_stream(name);
  }
  const CountedCall counted(waiting_calls_, true);
  const auto until = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < until && !cancelled()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

Result<std::vector<engine::FactorStart>> MemoryEngine::set_echo(const std::string& name,
                                                                std::uint32_t factor) {
  const std::lock_guard lock(mutex_);
  if (!streams_.contains(name)) return no_stream(name);
  if (factor < 1000) return Status(Code::kInvalidArgument, "the factor is below 1");
  return std::vector{engine::FactorStart{.jobs = {"a"}, .epoch = 2, .block = factor, .row = 640}};
}

Result<std::vector<engine::WeightStart>> MemoryEngine::set_weights(
    const std::string& name, const engine::NamedWeights& weights) {
  const std::lock_guard lock(mutex_);
  if (!streams_.contains(name)) return no_stream(name);
  if (!weights.contains("web")) return Status(Code::kInvalidArgument, "no source of that name");
  return std::vector{engine::WeightStart{.jobs = {"a"}, .epoch = 2, .row = weights.at("web")}};
}

Status MemoryEngine::forget_echo_place(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return streams_.contains(name) ? Status() : no_stream(name);
}

Status MemoryEngine::keep_awake(std::chrono::milliseconds duration) {
  return {Code::kFailedPrecondition, fmt::format("not for {} ms", duration.count())};
}

Result<std::shared_ptr<engine::SampleRun>> MemoryEngine::prepare(
    const engine::SampleQuestion& question, engine::SampleAnswer) {
  return Status(Code::kNotFound, "no stream '" + question.stream + "'");
}

engine::EngineStats MemoryEngine::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

Result<std::map<std::string, std::string>> MemoryEngine::states(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  if (!streams_.contains(name)) return no_stream(name);
  return std::map<std::string, std::string>{{"default", R"({"epoch":1,"row":64})"}};
}

Result<std::vector<std::string>> MemoryEngine::keys(
    const std::string& name, const std::vector<std::uint64_t>& samples) const {
  const std::lock_guard lock(mutex_);
  if (!streams_.contains(name)) return no_stream(name);
  std::vector<std::string> keys;
  for (const std::uint64_t sample : samples) keys.push_back("key" + std::to_string(sample));
  return keys;
}

Result<std::vector<engine::SampleUse>> MemoryEngine::step(const std::string& name,
                                                          std::uint32_t epoch, std::uint64_t step,
                                                          std::uint32_t batch_size) const {
  const std::lock_guard lock(mutex_);
  if (!streams_.contains(name)) return no_stream(name);
  return std::vector<engine::SampleUse>{{step, epoch}, {batch_size, 0}};
}

void MemoryEngine::drain(std::chrono::milliseconds /*patience*/) {}

namespace {

void add_waits_and_rates(engine::StreamStats& stats) {
  stats.store_rates = {{.endpoint = "http://store:1",
                        .short_answers = true,
                        .points = {{.in_flight = 16,
                                    .bytes_per_second = 4e6,
                                    .answer_bytes = 1e5,
                                    .windows = 3,
                                    .last_ns = monotonic_ns()}}}};
  stats.endpoint_wait_ns["s3://photos"] = 1'000'000'000;
  stats.step_wait_ns["decode image"] = 2'000'000'000;
}

}  // namespace

engine::StreamStats MemoryEngine::full_stats(const std::string& name) {
  engine::StreamStats stats;
  stats.name = name;
  stats.state = "ready";
  stats.echo_point = "sample";
  stats.source_scheme = "s3";
  stats.fingerprint = "00112233445566778899aabbccddeeff";
  stats.fields.push_back(
      {.name = "image", .fixed = true, .image = true, .shape = {{224, 224, 3}, 3}});
  stats.records = 500;
  stats.awaits_hosts = false;
  stats.shards = 5;
  stats.rows_per_epoch = 1250;
  stats.batches_per_epoch = 19;
  stats.batch_rows = 64;
  stats.factor = 2500;
  stats.samples_fresh = 40;
  stats.pictures = {.jpeg_own = 37, .jpeg_libjpeg = 3, .png = 0, .webp = 5, .avif = 0};
  stats.sources = {
      {.name = "web", .weight = 1000, .records = 50, .records_per_epoch = 50, .rows = 70}};
  stats.samples_echoed = 60;
  stats.batches = 7;
  stats.records_bad["corrupt"] = 2;
  stats.stages.push_back({"prep", 1'500'000'000, 2'000'000'000, 3'000'000'000});
  stats.steps.push_back({"decode image", 64, 1'000'000'000});
  add_waits_and_rates(stats);
  engine::ReportedLoss& loss = stats.reported_losses.emplace_back();
  loss.job = "default";
  loss.rows[0] = 64;
  loss.sums[0] = 96.5;
  loss.rows[15] = 2;
  loss.sums[15] = -1;
  stats.preparation.first_times.add(4'000'000, 64);
  engine::ConsumerStats consumer;
  consumer.job = "default";
  consumer.batch_size = 64;
  consumer.epoch = 1;
  consumer.row = 128;
  consumer.batches = 21;
  consumer.wait_ns = {1'000'000'000, 2'000'000'000, 0, 0, 500'000'000};
  consumer.batch_waits.add(20'000'000, 20);
  consumer.batch_waits.add(2'000'000'000);
  consumer.device = {
      .batches = 10, .uses = 20, .bytes = 3000, .copy_ns = 1'500'000'000, .wait_ns = 250'000'000};
  consumer.changes = {{12, 1500}};
  stats.consumers.push_back(consumer);
  stats.upstream_downstream_ratio = 4;
  stats.seconds_to_first_batch = 0.25;
  stats.passes = 1;
  stats.slots_free = 5;
  stats.slots_filling = 1;
  stats.slots_published = 2;
  stats.memory_bytes = {{"ring", 1000}, {"window", 200}, {"encoded", 30}};
  stats.source.requests_ok = 11;
  stats.source.bytes = 12345;
  stats.source.limit = 128;
  stats.source.wait_ns[1] = 2'500'000'000;
  stats.source.latencies.counts = {0, 4, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  stats.source.latencies.sum_ns = 70'500'000'000;
  stats.caches = {{.level = "memory", .hits = 3, .failures = {{"full", 1}}}};
  stats.remote = engine::RemoteStats{.answered = 5, .servers = 2, .reachable = 1};
  stats.served = engine::ServedStats{.samples = 7};
  stats.user_code = {.steps = 1, .returned = 9, .workers = 2};
  stats.recent.passed_ns = stats.recent.attached_ns = 10'000'000'000;
  stats.recent.samples_fresh = 40;
  stats.recent.wait_ns[0] = 2'500'000'000;
  stats.recent.stages.push_back({"prep", 1'000'000'000, 2'000'000'000, 1'000'000'000});
  stats.verdict = {"storage", "storage is the limit"};
  return stats;
}

void MemoryEngine::set_definition(const std::string& name, const v1::Stream& definition) {
  const std::lock_guard lock(mutex_);
  streams_[name] = definition;
}

v1::Stream MemoryEngine::stream(const std::string& name) const {
  const Result<v1::Stream> found = definition(name);
  return found.ok() ? *found : v1::Stream();
}

void MemoryEngine::set_stream(const engine::StreamStats& stats) {
  const std::lock_guard lock(mutex_);
  std::erase_if(stats_.streams, [&stats](const auto& one) { return one.name == stats.name; });
  stats_.streams.push_back(stats);
}

Result<v1::Stream> MemoryEngine::definition(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(name);
  if (found == streams_.end()) return no_stream(name);
  return found->second;
}

}  // namespace echoline::serve
