// Keeps the place that the daemon chose for an `echo` over restarts: a small file per stream in the
// state folder.
#pragma once

#include <optional>
#include <string>

#include "echoline/v1/config.pb.h"

namespace echoline::engine {

struct ChosenPlace {
  int place = 0;    // as of config::echo_places
  std::string why;  // a sentence
};

// A value; its functions read and write files, so they are called without the registry's lock.
class KeptEchoPlace {
 public:
  // Without a state folder nothing is kept.
  KeptEchoPlace(const std::string& state_dir, const std::string& stream);

  // Nothing if none was kept for a pipeline with these steps; their settings may have changed.
  std::optional<ChosenPlace> load(const v1::Stream& definition) const;
  // Logs a failure.
  void save(const v1::Stream& definition, const ChosenPlace& chosen) const;
  // Also where none was kept. kUnavailable: it cannot be removed.
  Status remove() const;

 private:
  std::string path_;
};

}  // namespace echoline::engine
