// An engine that keeps streams in memory and prepares nothing: the test double for serve/ and for
// the daemon's wiring.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "echoline/v1/config.pb.h"
#include "engine/api/engine.h"

namespace echoline::serve {

// Any thread may call everything.
class MemoryEngine final : public engine::Engine {
 public:
  explicit MemoryEngine(std::uint64_t memory = 1ULL << 30) { stats_.memory_budget = memory; }

  void attach(std::uint64_t connection, const shm::AttachRequest& request, const engine::Peer& peer,
              engine::ReplyFunction reply) override;
  void withdraw(std::uint64_t connection) override;
  void set_notify(engine::NotifyFunction notify) override;
  Status announce_stream(const std::string& name, const v1::Stream& stream) override;
  // Refuses a stream whose first url is "missing". The url "slow" takes two seconds, unless
  // `progress` ends it.
  Status create_stream(const std::string& name, const v1::Stream& stream,
                       const record::ProgressFunction& progress) override;
  Status delete_stream(const std::string& name) override;
  // Waits for `patience`, then returns false: the trainers have not finished.
  Result<bool> drain_stream(const std::string& name, std::chrono::milliseconds patience,
                            const std::function<bool()>& cancelled) override;
  // Every existing stream has one pass, with job "a".
  Result<std::vector<engine::FactorStart>> set_echo(const std::string& name,
                                                    std::uint32_t factor) override;
  Result<std::vector<engine::WeightStart>> set_weights(
      const std::string& name, const engine::NamedWeights& weights) override;
  Status forget_echo_place(const std::string& name) override;
  Status keep_awake(std::chrono::milliseconds duration) override;
  Result<std::shared_ptr<engine::SampleRun>> prepare(const engine::SampleQuestion& question,
                                                     engine::SampleAnswer answer) override;
  // Each part has one span of 1,000 ns, and the next number as `batch`.
  Result<std::unique_ptr<engine::Trace>> trace(const std::string& name,
                                               std::uint64_t longest_ns) override;
  engine::EngineStats stats() const override;
  std::uint64_t rounds() const override { return 0; }
  Result<v1::Stream> definition(const std::string& name) const override;
  Result<std::map<std::string, std::string>> states(const std::string& name) const override;
  Result<std::vector<std::string>> keys(const std::string& name,
                                        const std::vector<std::uint64_t>& samples) const override;
  Result<std::vector<engine::SampleUse>> step(const std::string& name, std::uint32_t epoch,
                                              std::uint64_t step,
                                              std::uint32_t batch_size) const override;
  void drain(std::chrono::milliseconds patience) override;

  // Counters of a stream with a value for every field, for tests of outputs.
  static engine::StreamStats full_stats(const std::string& name);
  void set_stream(const engine::StreamStats& stats);
  void set_definition(const std::string& name, const v1::Stream& definition);
  v1::Stream stream(const std::string& name) const;

  // Calls that are in a slow create_stream or in drain_stream now.
  int waiting_calls() const { return waiting_calls_; }

 private:
  std::atomic<int> waiting_calls_ = 0;
  mutable std::mutex mutex_;
  engine::EngineStats stats_;
  std::map<std::string, v1::Stream> streams_;
};

}  // namespace echoline::serve
