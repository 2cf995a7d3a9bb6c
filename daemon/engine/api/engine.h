// The engine: creates streams, attaches trainers to them, and reports on them. All threads of the
// data path are its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/api/attach.h"
#include "engine/api/preparation.h"
#include "engine/api/stats.h"
#include "engine/api/trace.h"
#include "record/core/index.h"

namespace echoline::v1 {
class Daemon;
class Stream;
}  // namespace echoline::v1

namespace echoline::engine {

struct SampleUse {
  std::uint64_t sample = 0;
  std::uint32_t use = 0;
};

// Any thread may call any of it. Only create_stream, delete_stream, drain_stream and drain block.
class Engine : public AttachHandler {
 public:
  // Fails where daemon.memory is more than this machine or its control group has.
  static Result<std::unique_ptr<Engine>> create(const v1::Daemon& daemon);

  // Takes the name of a stream that will be created soon: it is listed as being opened, and
  // trainers wait for it. Errors as of create_stream, for a definition that cannot be right.
  virtual Status announce_stream(const std::string& name, const v1::Stream& stream) = 0;
  // Opens the source, loads or builds the index, checks the plan and the memory budget. Blocks
  // until the stream is ready. Meanwhile trainers that attach to it wait, and learn of the
  // progress. If the stream cannot be opened, they get the reason. An error of `progress`, which is
  // called until the stream is ready, cancels it. Creating the same stream again is ok; another one
  // under its name is kAlreadyExists, and the message says what differs.
  virtual Status create_stream(const std::string& name, const v1::Stream& stream,
                               const record::ProgressFunction& progress) = 0;
  virtual Status delete_stream(const std::string& name) = 0;
  // Ends the passes of one stream, which takes no more trainers and remains until it is deleted.
  // Attached trainers may finish what is published and are then notified. Blocks until they have
  // finished, for `patience` at most or until `cancelled`; returns whether they have.
  virtual Result<bool> drain_stream(const std::string& name, std::chrono::milliseconds patience,
                                    const std::function<bool()>& cancelled) = 0;

  // Changes the echo factor, in thousandths, for all that no pass has planned yet; kInvalidArgument
  // above echo.max. Returns where it begins in each pass that had another factor.
  virtual Result<std::vector<FactorStart>> set_echo(const std::string& name,
                                                    std::uint32_t factor) = 0;

  // Changes weights of a mixture's sources, in thousandths by name, for all that no pass has
  // planned yet; sources that are not named keep theirs. kInvalidArgument: the message says which
  // source or weight. Returns where they begin in each pass that had others.
  virtual Result<std::vector<WeightStart>> set_weights(const std::string& name,
                                                       const NamedWeights& weights) = 0;
  // Forgets the place that was chosen for an echo without a place: the next opening chooses again.
  // kFailedPrecondition: the pipeline names the place.
  virtual Status forget_echo_place(const std::string& name) = 0;

  // Prepares samples of a stream for another host (engine/samples). Any thread; does not block.
  virtual Result<std::shared_ptr<SampleRun>> prepare(const SampleQuestion& question,
                                                     SampleAnswer answer) = 0;

  // Records what a stream does until the trace ends, for `longest_ns` at most. kFailedPrecondition:
  // it is traced already.
  virtual Result<std::unique_ptr<Trace>> trace(const std::string& name,
                                               std::uint64_t longest_ns) = 0;

  // Keeps workers without work awake for this long, for measurements (WorkerPool::keep_awake).
  // kFailedPrecondition: a control group limits the daemon's CPU time, which they would use up.
  virtual Status keep_awake(std::chrono::milliseconds duration) = 0;

  virtual EngineStats stats() const = 0;
  // Grows a hundred times a second while the engine's thread is alive and not blocked. Takes no
  // lock, for the watchdog.
  virtual std::uint64_t rounds() const = 0;
  // With all defaults filled in; kFailedPrecondition while the stream is being opened.
  virtual Result<v1::Stream> definition(const std::string& name) const = 0;
  // The state that each job would save now, as JSON, by job.
  virtual Result<std::map<std::string, std::string>> states(const std::string& name) const = 0;
  virtual Result<std::vector<std::string>> keys(
      const std::string& name, const std::vector<std::uint64_t>& samples) const = 0;
  // The samples of a step: the valid rows of the batch of all ranks (plan/step_rows.h).
  virtual Result<std::vector<SampleUse>> step(const std::string& name, std::uint32_t epoch,
                                              std::uint64_t step,
                                              std::uint32_t batch_size) const = 0;

  // Admits no more trainers and ends every pass. Trainers may finish what is published, for
  // `patience` at most; then this returns.
  virtual void drain(std::chrono::milliseconds patience) = 0;
};

}  // namespace echoline::engine
