// The engine: registry of streams, worker pool, memory budget. The only room with threads of the
// data path.
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
#include "engine/api/stats.h"
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

// Any thread may call any of it.
class Engine : public AttachHandler {
 public:
  // Fails where daemon.memory is more than this machine or its control group has.
  static Result<std::unique_ptr<Engine>> create(const v1::Daemon& daemon);

  // Opens the source, loads or builds the index, checks the plan and the memory budget. Blocks
  // until the stream is ready; the stream is not there when it fails, or when `progress`, which is
  // asked a last time before it is there, says to end. The very same stream once more is ok;
  // another one under its name is kAlreadyExists and says what differs.
  virtual Status create_stream(const std::string& name, const v1::Stream& stream,
                               const record::ProgressFunction& progress) = 0;
  virtual Status delete_stream(const std::string& name) = 0;
  // Ends the passes of one stream, which from then on takes no trainers and stays until it is
  // deleted. Those attached may finish what is published, then are told; blocks until they did, for
  // `patience` at most or until `cancelled` says so. Whether they did is returned.
  virtual Result<bool> drain_stream(const std::string& name, std::chrono::milliseconds patience,
                                    const std::function<bool()>& cancelled) = 0;

  // Another echo factor, in thousandths, for what no pass has planned yet; kInvalidArgument beyond
  // echo.max. Where it begins is returned by pass, but for passes that have it already.
  virtual Result<std::vector<FactorStart>> set_echo(const std::string& name,
                                                    std::uint32_t factor) = 0;

  virtual EngineStats stats() const = 0;
  // Grows a hundred times a second while the engine's thread is alive and not blocked. Takes no
  // lock, for the watchdog.
  virtual std::uint64_t rounds() const = 0;
  // With every value that is in force; of streams that are there, not of those being opened.
  virtual Result<v1::Stream> definition(const std::string& name) const = 0;
  // The state each job would save now, as JSON, by job.
  virtual Result<std::map<std::string, std::string>> states(const std::string& name) const = 0;
  virtual Result<std::vector<std::string>> keys(
      const std::string& name, const std::vector<std::uint64_t>& samples) const = 0;
  // What a step trains on: the valid rows of the batch of all ranks (plan/step_rows.h).
  virtual Result<std::vector<SampleUse>> step(const std::string& name, std::uint32_t epoch,
                                              std::uint64_t step,
                                              std::uint32_t batch_size) const = 0;

  // Ends every pass: trainers may finish what is published until the deadline, then are told.
  virtual void drain(std::chrono::milliseconds patience) = 0;
};

}  // namespace echoline::engine
