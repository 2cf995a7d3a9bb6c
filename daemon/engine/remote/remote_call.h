// Runs on their way, and the requests for them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/remote/answer_frames.h"
#include "engine/remote/remote_run.h"
#include "engine/remote/remote_server.h"

namespace echoline::engine {

class RemoteCall;

// What is asked for together. Lives until it has a result and none of its calls is in flight.
struct RunState {
  std::vector<RemoteRun> runs;             // none: it asks whether a server answers again
  std::vector<RemoteCall*> calls;          // in flight: one, or two after a late first one
  std::vector<const RemoteServer*> tried;  // failed it, since the run was last begun
  std::uint64_t not_before_ns = 0;         // after all servers have failed it
  std::uint64_t busy_since_ns = 0;         // 0: no server has been busy
  std::uint64_t held_since_ns = 0;         // 0: the gatherer has not held it
  bool has_second = false;
  bool is_unsent = false;  // no server was found for it yet
  bool done = false;

  bool is_probe() const { return runs.empty(); }
  // Nobody has failed it yet.
  bool is_fresh() const { return tried.empty() && busy_since_ns == 0 && not_before_ns == 0; }
  std::vector<std::uint64_t> records() const {
    std::vector<std::uint64_t> all;
    for (const RemoteRun& run : runs) all.insert(all.end(), run.records.begin(), run.records.end());
    return all;
  }
  bool has_tried(const RemoteServer& server) const {
    return std::find(tried.begin(), tried.end(), &server) != tried.end();
  }
};

inline std::shared_ptr<RunState> state_of(RemoteRun run) {
  auto state = std::make_shared<RunState>();
  state->runs.push_back(std::move(run));
  return state;
}

// One request at one server.
class RemoteCall {
 public:
  virtual ~RemoteCall() = default;
  virtual void cancel() = 0;

  std::shared_ptr<RunState> state;
  std::shared_ptr<RemoteServer> server;
  std::uint64_t sent_ns = 0;
};

enum class Outcome : std::uint8_t {
  kAnswered,
  kBusy,     // the server works, and has too much to do; or gRPC found the answer too long
  kRefused,  // it works, but not for this host
  kFailed,
};
// Of gRPC's status code.
Outcome outcome_of(int code);

struct EndedCall {
  std::unique_ptr<RemoteCall> call;
  Outcome outcome = Outcome::kFailed;
  std::string why{};      // if not answered
  AnswerPieces answer{};  // belongs to `call`
};

}  // namespace echoline::engine
