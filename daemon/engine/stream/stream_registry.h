// The engine as it is: streams by name, guarded by one mutex; attaching and ticking on a thread of
// its own.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/rate_limiter.h"
#include "engine/api/engine.h"
#include "engine/jobs/attached_trainers_file.h"
#include "engine/runtime/event_loop.h"
#include "engine/runtime/generations.h"
#include "engine/runtime/memory_budget.h"
#include "engine/runtime/worker_pool.h"
#include "engine/stream/stream.h"

namespace echoline::engine {

class StreamRegistry : public Engine {
 public:
  explicit StreamRegistry(const v1::Daemon& daemon);
  ~StreamRegistry() override;

  Status create_stream(const std::string& name, const v1::Stream& stream,
                       const record::ProgressFunction& progress) override;
  Status delete_stream(const std::string& name) override;
  Result<bool> drain_stream(const std::string& name, std::chrono::milliseconds patience,
                            const std::function<bool()>& cancelled) override;
  Result<std::vector<FactorStart>> set_echo(const std::string& name, std::uint32_t factor) override;
  EngineStats stats() const override;
  Result<v1::Stream> definition(const std::string& name) const override;
  Result<std::map<std::string, std::string>> states(const std::string& name) const override;
  Result<std::vector<std::string>> keys(const std::string& name,
                                        const std::vector<std::uint64_t>& samples) const override;
  Result<std::vector<SampleUse>> step(const std::string& name, std::uint32_t epoch,
                                      std::uint64_t step, std::uint32_t batch_size) const override;
  void drain(std::chrono::milliseconds patience) override;

  void attach(std::uint64_t connection, const shm::AttachRequest& request, const Peer& peer,
              ReplyFunction reply) override;
  void withdraw(std::uint64_t connection) override;
  void set_notify(NotifyFunction notify) override;

 private:
  Result<std::unique_ptr<Stream>> begin(Result<OpenedStream> opened, v1::Stream definition,
                                        std::vector<Trainer> expected);
  Status check_same(const std::string& name, const v1::Stream& definition) const;
  void do_attach(std::uint64_t connection, const shm::AttachRequest& request, const Peer& peer,
                 const ReplyFunction& reply);
  void do_withdraw(std::uint64_t connection);
  void tick();
  void keep_roster();
  // A stream cannot go on: its trainers are told why. One that has followed it is another.
  void fail_stream(const std::string& name, std::uint64_t incarnation, const Status& status);
  void fail(Stream& stream, const Status& status);
  void end_stream(Stream& stream, shm::WriterState state, shm::NoticeKind kind,
                  const Status& status);
  void notify(const std::vector<std::uint64_t>& connections, shm::NoticeKind kind,
              const Status& status);
  Result<Stream*> find(const std::string& name) const;
  // To a trainer, a stream that it may not use is not there.
  Result<Stream*> find_for(const Peer& peer, const std::string& name) const;
  void tell_refused(const Peer& peer, const std::string& name) const;

  const std::string state_dir_;
  const std::uint64_t reattach_grace_ns_;
  // Before all that may still post to it while it goes; its thread begins last and is stopped
  // first.
  std::unique_ptr<EventLoop> event_loop_;
  MemoryBudget budget_;
  WorkerPool pool_;
  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Stream>> streams_;
  // By name, with the failure of those whose first batch came to one before they were ready.
  std::map<std::string, Status> opening_;
  Generations generations_;  // of both
  bool draining_ = false;
  std::uint64_t rounds_ = 0;
  mutable RateLimiter refusals_told_{1'000'000'000};
  AttachedTrainersFile attached_trainers_file_;
  bool roster_changed_ = false;  // by a stream that is gone
  std::mutex notify_mutex_;
  NotifyFunction notify_;
};

}  // namespace echoline::engine
