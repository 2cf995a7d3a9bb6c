// Keeps the weights of a mixture that were set last over restarts of the daemon, as KeptFactor does
// for the echo factor.
#pragma once

#include <optional>
#include <string>

#include "engine/open/fingerprint.h"
#include "engine/walk/weight_history.h"

namespace echoline::engine {

// A value; its functions read and write files, so they are called without the registry's lock.
class KeptWeights {
 public:
  // Without a state folder nothing is kept.
  KeptWeights(const std::string& state_dir, const std::string& stream,
              const Fingerprint& fingerprint);

  // Nothing if none were kept for a stream with this definition and these data.
  std::optional<Weights> load() const;
  // Logs a failure.
  void save(const Weights& weights) const;
  // The stream was deleted.
  void remove() const;

 private:
  std::string path_;
};

}  // namespace echoline::engine
