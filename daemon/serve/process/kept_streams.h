// Kept streams: streams created at run time that the next start of the daemon creates again. Their
// definitions are stored in the state folder, one file per stream.
#pragma once

#include <map>
#include <set>
#include <string>

#include "base/mutex.h"
#include "base/status.h"
#include "echoline/v1/config.pb.h"

namespace echoline::serve {

// Any thread may call everything. The mutex is held during file operations.
class KeptStreams {
 public:
  // Reads and creates nothing yet.
  explicit KeptStreams(const std::string& state_dir) : folder_(state_dir + "/streams") {}

  // Reads the kept definitions, completed with defaults, by name. A stream of the configuration
  // hides a kept one with the same name. A file that cannot be read is marked as failed and stays.
  std::map<std::string, v1::Stream> load(const v1::Config& config);

  // Marks one of them as failed, until it is deleted or kept again.
  void set_failed(const std::string& name, const Status& status);
  // The errors of the failed ones, by name.
  std::map<std::string, std::string> failures() const;

  // Durable when it returns, also over a crash of the host.
  Status keep(const std::string& name, const v1::Stream& stream);
  // Returns whether there was one.
  Result<bool> remove(const std::string& name);
  bool contains(const std::string& name) const;

 private:
  std::string path_of(const std::string& name) const { return folder_ + "/" + name + ".json"; }

  const std::string folder_;
  mutable Mutex mutex_;
  // Of all kept streams, also the failed ones.
  std::set<std::string> names_ ECHOLINE_GUARDED_BY(mutex_);
  std::map<std::string, std::string> failures_ ECHOLINE_GUARDED_BY(mutex_);
};

}  // namespace echoline::serve
