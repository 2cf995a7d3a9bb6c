// What was set last of a stream's order: its echo factor, and the weights of its sources. Kept over
// restarts of the daemon: small files in the state folder, two for each stream, at most 256 of each
// kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/open/fingerprint.h"
#include "engine/walk/weight_history.h"

namespace echoline::engine {

struct OrderSettings {
  std::optional<std::uint32_t> factor;  // in thousandths
  std::optional<Weights> weights;
  bool empty() const { return !factor && !weights; }
};

// A value; its functions read and write files, so they are called without the registry's lock.
class KeptOrder {
 public:
  // Without a state folder nothing is kept.
  KeptOrder(const std::string& state_dir, const std::string& stream,
            const Fingerprint& fingerprint);

  // Of the stream's files in the state folder; empty: nothing is kept.
  const std::string& name() const { return factor_path_; }
  // What was kept for a stream with this definition and these data.
  OrderSettings load() const;
  // What `settings` do not have stays as it is. Logs a failure.
  void save(const OrderSettings& settings) const;
  // The stream was deleted.
  void remove() const;

 private:
  std::string factor_path_;
  std::string weights_path_;
};

}  // namespace echoline::engine
