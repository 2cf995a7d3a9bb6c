// Definitions of streams that were created at run time and are to come back with the daemon: one
// file each below the state folder.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>

#include "base/status.h"
#include "echoline/v1/config.pb.h"

namespace echoline::serve {

// Any thread may call any of it.
class KeptStreams {
 public:
  // Nothing is read or made yet.
  explicit KeptStreams(const std::string& state_dir) : folder_(state_dir + "/streams") {}

  // What was kept, by name, complete, but for streams that the configuration has: those win, and
  // are none that are kept. What cannot be read any more has failed, and stays where it is.
  std::map<std::string, v1::Stream> load(const v1::Config& config);

  // That one of them could not be created: until it is deleted or kept anew.
  void set_failed(const std::string& name, const Status& status);
  // Why, by name.
  std::map<std::string, std::string> failures() const;

  // On disk when it returns, also after a crash.
  Status keep(const std::string& name, const v1::Stream& stream);
  // Whether there was one.
  Result<bool> remove(const std::string& name);
  bool contains(const std::string& name) const;

 private:
  std::string path_of(const std::string& name) const { return folder_ + "/" + name + ".json"; }

  const std::string folder_;
  mutable std::mutex mutex_;
  std::set<std::string> names_;  // those that have failed among them
  std::map<std::string, std::string> failures_;
};

}  // namespace echoline::serve
