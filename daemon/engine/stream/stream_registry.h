// The engine: creates, finds and deletes streams by name, and answers questions about them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/api/engine.h"
#include "engine/jobs/attached_trainers_file.h"
#include "engine/runtime/memory_budget.h"
#include "engine/runtime/worker_pool.h"
#include "engine/stream/order_agreement.h"
#include "engine/stream/sample_service.h"
#include "engine/stream/stream_driver.h"
#include "engine/stream/stream_opener.h"
#include "engine/stream/trace_session.h"

namespace echoline::engine {

// Threads as Engine says. Opening a stream, building its first pass and stopping its passes happen
// without the registry's lock.
class StreamRegistry : public Engine {
 public:
  explicit StreamRegistry(const v1::Daemon& daemon);
  // Reserves what is no stream's. Once, before the first stream.
  Status open() { return samples_.open(budget_); }
  ~StreamRegistry() override;

  Status announce_stream(const std::string& name, const v1::Stream& stream) override;
  Status create_stream(const std::string& name, const v1::Stream& stream,
                       const record::ProgressFunction& progress) override;
  Status delete_stream(const std::string& name) override;
  Result<bool> drain_stream(const std::string& name, std::chrono::milliseconds patience,
                            const std::function<bool()>& cancelled) override;
  Result<std::vector<FactorStart>> set_echo(const std::string& name,
                                            std::uint32_t factor) override {
    return agreement_.set_echo(name, factor);
  }
  Result<std::vector<WeightStart>> set_weights(const std::string& name,
                                               const NamedWeights& weights) override {
    return agreement_.set_weights(name, weights);
  }
  Status forget_echo_place(const std::string& name) override;
  Status keep_awake(std::chrono::milliseconds time) override { return pool_.keep_awake(time); }
  Result<std::shared_ptr<SampleRun>> prepare(const SampleQuestion& question,
                                             SampleAnswer answer) override {
    return samples_.prepare(question, std::move(answer));
  }
  Result<std::unique_ptr<Trace>> trace(const std::string& name, std::uint64_t longest_ns) override {
    return TraceSession::begin(shared_, name, longest_ns);
  }
  EngineStats stats() const override;
  std::uint64_t rounds() const override { return driver_.rounds(); }
  Result<v1::Stream> definition(const std::string& name) const override;
  Result<std::map<std::string, std::string>> states(const std::string& name) const override;
  Result<std::vector<std::string>> keys(const std::string& name,
                                        const std::vector<std::uint64_t>& samples) const override;
  Result<std::vector<SampleUse>> step(const std::string& name, std::uint32_t epoch,
                                      std::uint64_t step, std::uint32_t batch_size) const override;
  void drain(std::chrono::milliseconds patience) override;

  void attach(std::uint64_t connection, const shm::AttachRequest& request, const Peer& peer,
              ReplyFunction reply) override;
  void withdraw(std::uint64_t connection) override { driver_.withdraw(connection); }
  void set_notify(NotifyFunction notify) override { driver_.set_notify(std::move(notify)); }

 private:
  // A stream that is open is added to the table.
  void add(const std::string& name, std::unique_ptr<Stream> stream, std::uint64_t generation);
  // Ends the passes of a stream that takes no more trainers; returns the stream's generation.
  Result<std::uint64_t> close_stream(const std::string& name);

  MemoryBudget budget_;
  AttachedTrainersFile trainers_file_;
  mutable SharedStreams shared_;
  SampleService samples_;
  OrderWriter order_writer_;
  StreamDriver driver_;
  OrderAgreement agreement_;
  // Last: its workers may report a failure to the driver until they have ended.
  WorkerPool pool_;
  const StreamOpener opener_;
};

}  // namespace echoline::engine
