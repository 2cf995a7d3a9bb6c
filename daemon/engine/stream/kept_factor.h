// Keeps the echo factor that was set last over restarts of the daemon: a small file per stream in
// the state folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/status.h"
#include "engine/open/fingerprint.h"

namespace echoline::engine {

// A value; its functions read and write files, so they are called without the registry's lock.
class KeptFactor {
 public:
  // Without a state folder nothing is kept.
  KeptFactor(const std::string& state_dir, const std::string& stream,
             const Fingerprint& fingerprint);

  // In thousandths. Nothing if none was kept, or if the file is of a stream with another
  // definition or other data.
  std::optional<std::uint32_t> load() const;
  // Logs a failure.
  void save(std::uint32_t factor) const;
  // The stream was deleted.
  static void remove(const std::string& state_dir, const std::string& stream);

 private:
  std::string path_;
  std::string fingerprint_;  // 32 hex digits
};

}  // namespace echoline::engine
