#include "serve/control/snapshot.h"

#include <google/protobuf/util/time_util.h>

#include "base/clock.h"
#include "serve/control/stream_status.h"
#include "serve/monitor/all_stats.h"

namespace echoline::serve {

void fill_stream(const ControlContext& daemon, const engine::StreamStats& stats,
                 v1::StreamStatus& status) {
  fill_stream_status(stats, status);
  status.set_persisted(daemon.kept->contains(stats.name));
}

v1::WatchStatsResponse snapshot(const ControlContext& daemon, const std::string& name) {
  const engine::EngineStats stats = all_stats(*daemon.engine, *daemon.kept);
  v1::WatchStatsResponse seen;
  // Wall time for people, and a monotonic time for rates.
  *seen.mutable_time() = google::protobuf::util::TimeUtil::GetCurrentTime();
  seen.set_monotonic_ns(monotonic_ns());
  fill_daemon_status(stats, *seen.mutable_daemon());
  seen.mutable_daemon()->set_door_connections(daemon.connections());
  seen.mutable_daemon()->set_draining(*daemon.draining);
  for (const engine::StreamStats& stream : stats.streams) {
    if (name.empty() || stream.name == name) fill_stream(daemon, stream, *seen.add_streams());
  }
  return seen;
}

}  // namespace echoline::serve
