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

  // In thousandths. Nothing if none was kept for a stream with this definition and these data.
  std::optional<std::uint32_t> load() const;
  // Logs a failure.
  void save(std::uint32_t factor) const;
  // The stream was deleted.
  void remove() const;

 private:
  std::string path_;
};

}  // namespace echoline::engine
