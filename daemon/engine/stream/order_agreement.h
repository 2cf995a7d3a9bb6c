// Changes of the echo factor and of the weights of a mixture. Those of jobs on several hosts begin
// at the same place of the order on all of them: their daemons agree through the store of
// daemon.etcd.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "agree/etcd_store.h"
#include "base/mutex.h"
#include "base/rate_limiter.h"
#include "base/status.h"
#include "echoline/v1/config.pb.h"
#include "engine/stream/agreement_session.h"
#include "engine/stream/stream_driver.h"

namespace echoline::engine {

// Any thread. With daemon.etcd, a thread of its own, "agree", asks the store, and takes the
// registry's lock only to talk to a stream.
class OrderAgreement {
 public:
  // What it refers to outlives it.
  OrderAgreement(SharedStreams& shared, StreamDriver& driver, const v1::Daemon& daemon);
  ~OrderAgreement() { stop(); }
  // Leaves all runs. No change can be made afterwards.
  void stop() ECHOLINE_EXCLUDES(mutex_);

  // See Engine. They wait some seconds for the other hosts of a job.
  Result<std::vector<FactorStart>> set_echo(const std::string& stream, std::uint32_t factor)
      ECHOLINE_EXCLUDES(shared_.mutex, mutex_);
  Result<std::vector<WeightStart>> set_weights(const std::string& stream,
                                               const NamedWeights& changed)
      ECHOLINE_EXCLUDES(shared_.mutex, mutex_);
  // The requests to the store, if there is one.
  void report(EngineStats& stats) const;

 private:
  using Made = SharedJob::Made;
  struct Wish {
    agree::Change change;
    std::optional<Result<Made>> result = {};
    bool given_up = false;  // nobody waits for the result, but the change may still come
  };
  struct Known {
    std::uint64_t generation = 0;  // of the stream's name
    std::unique_ptr<AgreementSession> session;
    Status over{};  // not ok: why it takes no part any more
  };

  Result<Made> agree(const std::string& stream, agree::Change change) ECHOLINE_EXCLUDES(mutex_);
  void loop() ECHOLINE_EXCLUDES(mutex_);
  // One round of all streams. True if something is under way, so that the next one is soon.
  bool do_round() ECHOLINE_EXCLUDES(shared_.mutex, mutex_);
  // Begins and ends sessions as jobs come and go.
  void update_sessions() ECHOLINE_EXCLUDES(shared_.mutex);
  std::unique_ptr<AgreementSession> begin(const std::string& stream, std::uint64_t generation,
                                          const Stream& at, SharedJob::View view);
  void note(const std::string& stream, Known& known, const Status& status);
  // The change that somebody waits for, if there is one.
  std::optional<agree::Change> wish_of(const std::string& stream) ECHOLINE_EXCLUDES(mutex_);
  void fulfil(const std::string& stream, Result<Made> result) ECHOLINE_EXCLUDES(mutex_);

  SharedStreams& shared_;
  StreamDriver& driver_;
  const bool has_store_;
  const std::string prefix_;
  agree::StoreCounts counts_;
  agree::EtcdStore store_;
  std::map<std::string, Known> known_;  // by stream; of the thread
  RateLimiter failure_log_{30'000'000'000};
  bool failing_ = false;
  // Never held together with the registry's lock.
  Mutex mutex_;
  CondVar changed_;
  std::map<std::string, std::shared_ptr<Wish>> wishes_ ECHOLINE_GUARDED_BY(mutex_);
  bool woken_ ECHOLINE_GUARDED_BY(mutex_) = false;
  bool stopping_ ECHOLINE_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace echoline::engine
